"""An embedding as a judge: how similar two texts are, and a logistic regression on that one number (BEMEAE, section 6.2, a and b).

    x = the highest similarity of the candidate to any of the question's references
    label = argmax over Correct, Partial, Incorrect of  a_label · x + b_label

The regression is scikit-learn's, trained on labels that people gave. A cosine by itself does not say where Correct ends, so the package
brings no classifier of its own. A trained one is a small JSON file of coefficients with the signature of its encoder: with another
encoder, or another version of it, the file is refused.

The labels come from a store, or from a file with one JSON object a line:

    {"candidate": "the harbour police", "references": ["harbour police"], "label": "Correct", "document": ..., "role": ...}

Only the candidate, the reference (or references) and the label are required; the other parts of a question are optional. Lines that name
a judge have the format that a store writes (see `exchange`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tallystick.engine.arrays import F64, I64, integers
from tallystick.errors import InputError, Place, did_you_mean
from tallystick.files.json_values import Json, NotJson, decode, read_json
from tallystick.files.source import Source, read_text, shown_name
from tallystick.frozen import frozen
from tallystick.judging.agreement import Agreement, agreement
from tallystick.judging.encoders import Encoder, encoder_named
from tallystick.judging.questions import LABELS, Label, Question, Verdict

FORMAT = "tallystick embedding judge 1"

Labelled = Sequence[tuple[Question, Label]]


@frozen
class Classifier:
    """The coefficients of a logistic regression on one number: a slope and an intercept for each known label."""

    labels: tuple[Label, ...]
    slopes: tuple[float, ...]
    intercepts: tuple[float, ...]

    def label(self, x: F64) -> list[Label]:
        """The most probable label for each number; of two that are equally probable, the worse one."""
        scores = x[:, None] * np.array(self.slopes) + np.array(self.intercepts)
        best = scores.shape[1] - 1 - np.argmax(scores[:, ::-1], axis=1)
        return [self.labels[k] for k in best.tolist()]

    @staticmethod
    def fit(x: F64, labels: Sequence[Label], *, balanced: bool = False) -> Classifier:
        """Fit scikit-learn's logistic regression with its defaults, or with classes of equal total weight."""
        try:
            from sklearn.linear_model import LogisticRegression
        except ImportError:
            raise InputError("training needs scikit-learn: pip install 'tallystick[embeddings]'") from None
        known = tuple(label for label in LABELS if label in labels)
        if len(known) < 2:
            raise InputError(
                f"a classifier needs at least two different labels to learn from, found {', '.join(known) or 'none'}"
            )
        targets = np.array([known.index(label) for label in labels])
        model = LogisticRegression(class_weight="balanced" if balanced else None, max_iter=1000)
        model.fit(np.asarray(x)[:, None], targets)
        slopes, intercepts = model.coef_[:, 0].tolist(), model.intercept_.tolist()
        if len(known) == 2:  # one row: how much the second is preferred to the first
            slopes, intercepts = [0.0, *slopes], [0.0, *intercepts]
        return Classifier(known, tuple(slopes), tuple(intercepts))


@frozen
class EmbeddingJudge:
    """An encoder and a classifier: a judge that works offline and always gives the same answer."""

    spec: str
    """The encoder's name, as `encoder_named` takes it."""
    encoder: Encoder = field(compare=False, repr=False)
    classifier: Classifier
    training: Mapping[str, Any] = field(compare=False, default_factory=dict)
    """What it was trained on and how it scored: digest, number of questions, split, held-out kappas."""

    kind = "embedding"

    @property
    def name(self) -> str:
        """The name under which its judgements can be stored."""
        return f"embedding:{self.spec}"

    @property
    def version(self) -> str:
        """A digest of encoder and coefficients."""
        parts = [self.encoder.signature, self.classifier.labels, self.classifier.slopes, self.classifier.intercepts]
        return blake2b(json.dumps(parts).encode(), digest_size=6).hexdigest()

    @property
    def signature(self) -> str:
        """Which encoder, and which classifier."""
        return f"embedding({self.spec}, {self.version})"

    def judge(self, questions: Sequence[Question]) -> list[Verdict | None]:
        """A verdict for each question; one without references cannot be judged."""
        similar, owner = _similarities(self.encoder, questions)
        labels = self.classifier.label(similar)
        out: list[Verdict | None] = []
        starts = np.searchsorted(owner, np.arange(len(questions) + 1)).tolist()
        for first, last in pairwise(starts):
            if first == last:
                out.append(None)
                continue
            nearest = first + int(np.argmax(similar[first:last]))
            label = labels[nearest]
            alike = tuple(k - first for k in range(first, last) if labels[k] == label)
            out.append(
                Verdict(label, () if label == "Incorrect" else alike, f"{self.spec}: {similar[nearest]:.4f} alike")
            )
        return out

    # -- files --------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """As JSON: coefficients, signatures and what it was trained on."""
        content = {
            "format": FORMAT,
            "encoder": self.spec,
            "encoder_signature": self.encoder.signature,
            "labels": self.classifier.labels,
            "slopes": self.classifier.slopes,
            "intercepts": self.classifier.intercepts,
            "training": dict(self.training),
            "signature": self.signature,
        }
        from tallystick.files.writing import write_atomically

        write_atomically(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    @staticmethod
    def load(path: str | Path) -> EmbeddingJudge:
        """Back from `save`; an error if this is no such file, or its encoder is another one now."""
        from tallystick.files.source import read_text

        try:
            content = json.loads(read_text(path))
            if content["format"] != FORMAT:
                raise InputError(f"format {content['format']!r}, expected {FORMAT!r}", str(path))
            classifier = Classifier(
                tuple(content["labels"]), tuple(map(float, content["slopes"])), tuple(map(float, content["intercepts"]))
            )
            spec, signature, training = str(content["encoder"]), content["encoder_signature"], dict(content["training"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"not a classifier that `tallystick judge train` made ({type(error).__name__}: {error})", str(path)
            ) from None
        sizes = {len(classifier.labels), len(classifier.slopes), len(classifier.intercepts)}
        if len(sizes) != 1 or not set(classifier.labels) <= set(LABELS):
            raise InputError("a classifier whose labels and coefficients do not fit together", str(path))
        encoder = encoder_named(spec)
        if encoder.signature != signature:
            raise InputError(
                f"trained with the encoder {signature!r}, and here it is {encoder.signature!r}; train it again",
                str(path),
            )
        return EmbeddingJudge(spec, encoder, classifier, training)


def _similarities(encoder: Encoder, questions: Sequence[Question]) -> tuple[F64, I64]:
    """The similarity of each candidate to each of its references, and which question it belongs to."""
    owner = integers(np.repeat(np.arange(len(questions)), [len(question.references) for question in questions]))
    references = [text for question in questions for text in question.references]
    candidates = [questions[k].candidate for k in owner.tolist()]
    return encoder.similarities(references, candidates), owner


def features(encoder: Encoder, questions: Sequence[Question]) -> F64:
    """The x of each question: the similarity of the candidate to the nearest reference."""
    similar, owner = _similarities(encoder, questions)
    out = np.full(len(questions), -np.inf)
    np.maximum.at(out, owner, similar)
    return out


# -- training ---------------------------------------------------------------------------------------------------------


@frozen
class Trained:
    """A judge, and its agreement with labels that it was not trained on."""

    judge: EmbeddingJudge
    held_out: Agreement
    how: str


def train(
    labelled: Labelled,
    spec: str,
    *,
    folds: int = 5,
    seed: int = 0,
    split: Mapping[str, str] | None = None,
    balanced: bool = False,
) -> Trained:
    """Train on labelled questions, and evaluate on others.

    With `folds` each question is judged by a classifier that has not seen it (nor any question with the same texts), and the
    judge is then trained on all. With `split` (question's key to "train" or "test") it is trained on one part and evaluated
    on the other.
    """
    labelled = [(question, label) for question, label in labelled if question.references]
    encoder = encoder_named(spec)
    x = features(encoder, [question for question, _ in labelled])
    labels = [label for _, label in labelled]
    if split is None:
        held_out, how = _cross_validate(x, labelled, folds, seed, balanced), f"{folds} folds, seed {seed}"
        learnt = list(range(len(labels)))
    else:
        learnt, tested = (
            [k for k, (q, _) in enumerate(labelled) if split.get(q.key) == part] for part in ("train", "test")
        )
        if not learnt or not tested:
            raise InputError(
                f"the split has {len(learnt)} labelled questions to train on and {len(tested)} to test on; both are needed"
            )
        part = Classifier.fit(x[learnt], [labels[k] for k in learnt], balanced=balanced)
        held_out, how = dict(zip(tested, part.label(x[tested]), strict=True)), "a split"
    classifier = Classifier.fit(x[learnt], [labels[k] for k in learnt], balanced=balanced)
    agreed = agreement({k: labels[k] for k in held_out}, held_out, ("recorded", spec))
    training = {
        "digest": _digest([labelled[k] for k in learnt]),
        "questions": len(learnt),
        "labels": dict(Counter(labels[k] for k in learnt)),
        "balanced": balanced,
        "held_out": {"how": how, "questions": agreed.n, "kappa_3": agreed.kappa_3, "kappa_2": agreed.kappa_2},
    }
    return Trained(EmbeddingJudge(spec, encoder, classifier, training), agreed, how)


def _cross_validate(x: F64, labelled: Labelled, folds: int, seed: int, balanced: bool) -> dict[int, Label]:
    try:
        from sklearn.model_selection import StratifiedGroupKFold
    except ImportError:
        raise InputError("training needs scikit-learn: pip install 'tallystick[embeddings]'") from None
    labels = [label for _, label in labelled]
    texts = {(question.candidate, question.references) for question, _ in labelled}
    rarest = min(Counter(labels).values(), default=0)
    if folds < 2 or folds > min(rarest, len(texts)):
        raise InputError(
            f"{folds} folds need as many questions of each label, and the rarest label has {rarest}; "
            f"give fewer --folds, more labels, or a --split of your own"
        )
    # in an order of our own: scikit-learn before 1.8 shuffles the counts of the groups without the groups
    places = np.argsort(np.random.RandomState(seed).permutation(len(texts)))
    number = dict(zip(sorted(texts), places.tolist(), strict=True))
    groups = [number[question.candidate, question.references] for question, _ in labelled]
    out: dict[int, Label] = {}
    parts = StratifiedGroupKFold(folds).split(x, labels, groups)
    for learnt, tested in parts:
        left = {labels[k] for k in learnt}
        if len(left) < 2:
            raise InputError(
                f"with {folds} folds there is one in which only {left.pop()} is left to learn from: questions with the same texts stay "
                "in one fold. Give fewer --folds, another --seed, more labels, or a --split of your own"
            )
        classifier = Classifier.fit(x[learnt], [labels[k] for k in learnt], balanced=balanced)
        out.update(zip(tested.tolist(), classifier.label(x[tested]), strict=True))
    return out


def _digest(labelled: Labelled) -> str:
    text = json.dumps([(question.key, label) for question, label in labelled])
    return blake2b(text.encode(), digest_size=8).hexdigest()


# -- labels from a file -----------------------------------------------------------------------------------------------


PARTS = ("document", "event_type", "trigger", "role")


def read_labelled(path: str | Path) -> list[tuple[Question, Label]]:
    """The questions of a file, with their labels."""
    return parse_labelled(read_text(path), shown_name(path))


def parse_labelled(content: str, file: str) -> list[tuple[Question, Label]]:
    """The same for a text that was already read."""
    return [(question_of(row), _label(row.at("label"))) for row in read_json(Source.of_text(content, file))]


def names_judges(content: str) -> bool:
    """Whether the lines name their judges, as a store writes them, rather than give labels alone."""
    for line in content.split("\n"):
        if line.strip():
            try:
                row = decode(line)
            except NotJson:
                return False
            return isinstance(row, dict) and bool({"key", "judge"} & row.keys())
    return False


def question_of(row: Json) -> Question:
    """The question of one object."""
    known = ("candidate", "reference", "references", "label", *PARTS)
    for name in row.mapping():
        if name not in known:
            raise row.fail(f"unknown part {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")
    given = row.at("references", "reference")
    references = [given] if given.key == "reference" else given.each()
    document, event_type, trigger, role = (found.text() if (found := row.get(name)) else "" for name in PARTS)
    texts = tuple(one.text() for one in references)
    return Question(row.at("candidate").text(), texts, document, event_type, trigger, role)


def _label(value: Json) -> Label:
    for label in LABELS:
        if value.value == label:
            return label
    raise value.expected(f"one of {', '.join(LABELS)}")


def read_split(path: str | Path) -> dict[str, str]:
    """A split: lines of a question's key, a tab, and train or test."""
    out: dict[str, str] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        key, _, part = line.partition("\t")
        if part.strip() not in ("train", "test"):
            raise InputError(
                f"expected a question's key, a tab, and train or test, found {line!r:.60}", Place(str(path), number)
            )
        if out.setdefault(key.strip(), part.strip()) != part.strip():
            raise InputError(f"the question {key.strip()} is in both parts", Place(str(path), number))
    return out
