"""A golden run: proves that a rewriting of the package changes no figure.

    python -m benchmarks.golden keep DIR              run everything, and keep what came out
    python -m benchmarks.golden compare BEFORE AFTER  exit with 1 if a figure or an exit code differs

`keep` calls what survives a refactoring and nothing else: the command line, in this process, and the public names of
`tallystick`. A small random corpus (`golden_data`) is written in every documented format of every task, and each is
scored, explained and compared with every option; broken files are among them. Then come the laboratory, judging, expressions of
the algebra, and the real corpora of ../shared/data where they exist. A run is a file DIR/TASK/SLUG.json: argv, exit code,
output (JSON with floats bit by bit, or lines of text), stderr, and the tables that it wrote.

`compare` sorts differences in three: figures (numbers, ids and labels, also the numbers in texts, and exit codes: these fail),
shape (keys that came or went) and wording (messages, signatures, titles). Where all values of an object are numbers, or all are
objects, it is a table: its keys are names of figures, labels, documents, and so figures too.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import json
import os
import random
import re
import shlex
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import tallystick as ts
from benchmarks import golden_commands as asked
from benchmarks import golden_data as data
from tallystick.cli.main import tallystick

MISSING = "(not there)"
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
WORDING = ("signature", "settings", "warnings", "notes", "title", "tallystick", "expression", "stderr", "walk", "order")
"""Keys below which everything is wording."""
TEXTS = ("text", "detail", "counterexample", "how", "reason", "meaning", "judge")
"""Keys below which the numbers in texts are figures, and the rest is wording."""


class Keeper:
    """Runs commands, and keeps what came of each in a file of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count, self.codes = folder, 0, Counter[int]()
        self.seconds: Counter[str] = Counter()

    def command(self, task: str, *argv: str) -> None:
        """One command; --format json is added where it says nothing else."""
        formed = argv[0] in ("score", "explain", "compare", "check") or argv[:2] in (
            ("judge", "agreement"),
            ("judge", "judges"),
        )
        line = [
            *argv,
            *(["--format", "json"] if formed and not {"--format", "--seqeval", "--describe"} & {*argv} else []),
        ]
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        before, sys.argv, code, began = sys.argv, ["tallystick", *line], 0, time.process_time()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                tallystick(prog_name="tallystick")
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else int(stopped.code is not None)
        sys.argv = before
        self.seconds[task] += time.process_time() - began
        said, told = (self._plain(stream.buffer.getvalue().decode()) for stream in (out, err))  # type: ignore[attr-defined]
        shown = [one.replace(str(SHARED), "<shared>") for one in argv]
        kept = {
            "argv": shown,
            "exit": code,
            "output": _parsed(said),
            "stderr": told.splitlines(),
            "written": self._written(),
        }
        self.codes[code] += 1
        self.keep(task, "-".join(shown), kept)

    def evaluation(self, line: str, functions: dict[str, Any], gold: list[Any], system: list[Any]) -> None:
        """One expression over values in memory; what is refused is kept, too."""
        kept: dict[str, Any] = {"argv": [line], "exit": 0}
        began = time.process_time()
        try:
            metric = ts.parse(line, functions=functions)
            result = ts.evaluate(metric, gold, system)
            kept |= {
                "expression": str(metric),
                "output": json.loads(result.to_json()),
                "text": str(result.explain(1)).splitlines(),
            }
            kept["documents"] = {str(name): figures for name, figures in result.documents.items()}
            kept["kernel"] = str(ts.kernel_status(metric)).split(":")[0]
            kept["fields"] = {one.path: asdict(one) for one in result.by_field()}
        except Exception as error:  # a crash is kept as such
            kept |= {
                "exit": 1 if isinstance(error, ts.TallystickError) else 70,
                "stderr": f"{type(error).__name__}: {error}".splitlines(),
            }
        self.codes[kept["exit"]] += 1
        self.seconds["algebra"] += time.process_time() - began
        self.keep("algebra", line, kept)

    def keep(self, task: str, name: str, content: dict[str, Any]) -> None:
        """A file of its own for a run, numbered so that no two have one name."""
        self.count += 1
        path = self.folder / task / f"{self.count:05}-{re.sub(r'[^A-Za-z0-9_.+=-]+', '_', name)[:90]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")

    @staticmethod
    def _plain(text: str) -> str:
        text = text.replace(str(Path.cwd()), "<tmp>").replace(str(SHARED), "<shared>")
        return re.sub(r"\d+(\.\d+)? (seconds|s|ms)\b", "<time>", text)

    @staticmethod
    def _written() -> dict[str, Any]:
        found: dict[str, Any] = {}
        for path in sorted(Path().glob("out.*")):
            found[path.name] = _parsed(path.read_text()) if path.suffix in (".csv", ".json", ".jsonl") else "written"
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text.splitlines()}


# What is run


def write(path: Path, content: data.Written) -> str:
    for name, text in content.items() if isinstance(content, dict) else [("", content)]:
        file = path / name if name else path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return str(path)


def prepare() -> dict[str, dict[str, list[str]]]:
    """All files of the made corpus; for each task and format the gold file and those of two systems."""
    r = random.Random("golden")
    gold = [data.made(r, f"d{k}") for k in range(14)]
    sides = {
        "gold": gold,
        **{name: [data.noisy(r, one, rate) for one in gold] for name, rate in (("a", 0.2), ("b", 0.45))},
    }
    files: dict[str, dict[str, list[str]]] = {}
    for task, formats in data.FORMATS.items():
        for name, writer in formats.items():
            stem, _, ending = name.partition(".")
            some = [
                write(Path(task, f"{stem}.{side}{ending and '.' + ending}"), writer(docs, gold))
                for side, docs in sides.items()
            ]
            files.setdefault(task, {})[name] = some
            broken = writer(sides["a"][:-1], gold)
            if isinstance(broken, str):
                whole = Path(some[1]).read_text()
                for kind, text in (
                    ("missing", broken),
                    ("cut", whole[: len(whole) * 3 // 5]),
                    ("empty", ""),
                    ("garbled", whole.replace("1", "\x00([")),
                ):
                    files[task][name].append(write(Path(task, f"{stem}.{kind}.{ending}"), text))
    for name, text in asked.HELPERS.items():
        write(Path(name), text)
    pairs = zip(
        Path(files["spans"]["columns.iob"][0]).read_text().split("\n"),
        Path(files["spans"]["columns.iob"][1]).read_text().split("\n"),
        strict=True,
    )
    write(Path("spans/both.txt"), "\n".join(f"{a} {b.split()[-1]}" if a else "" for a, b in pairs))
    write(Path("parses.conllu"), data.conllu(lambda d: {})(gold, []))
    some_gold = gold[:5]
    write(Path("train.json"), data.docred(some_gold, some_gold))
    at = [[0, *itertools.accumulate(map(len, d.sentences))] for d in gold]
    heads = [
        [head + at[n][k] - 1 if head else -1 for k, one in enumerate(d.heads) for head, _ in one]
        for n, d in enumerate(gold)
    ]
    write(
        Path("heads.jsonl"),
        data.lines({"id": d.name, "heads": some, "parser": "made"} for d, some in zip(gold, heads, strict=True)),
    )
    clusters = [[[[o.start, o.end - 1] for o in some] for some in d.entities().values()] for d in gold]
    write(
        Path("coreference.jsonl"),
        data.lines({"doc_key": d.name, "clusters": some} for d, some in zip(gold, clusters, strict=True)),
    )
    return files


def run_made(keeper: Keeper, files: dict[str, dict[str, list[str]]]) -> None:
    """Every task, format, option."""
    plain = files["arguments"]["plain.jsonl"]
    keeper.command("judge", "judge", "export", *plain[:3], "--store", "judged.sqlite", "--jsonl", "questions.jsonl")
    questions = [json.loads(line) for line in Path("questions.jsonl").read_text().splitlines()]
    labels = ("Correct", "Incorrect", "Partial")
    said = [
        {**one, "judge": who, "label": labels[(k // (2 - n)) % 3], "same_as": [0][: len(one.get("references", ()))]}
        for k, one in enumerate(questions)
        for n, who in enumerate(("anna", "ben"))
    ]
    write(Path("said.jsonl"), data.lines(said))
    keeper.command("judge", "judge", "import", "judged.sqlite", "said.jsonl")
    for task, formats in files.items():
        for k, (name, (gold, a, b, *broken)) in enumerate(formats.items()):
            if name.startswith("part-"):
                continue
            needed = shlex.split(asked.NEEDED.get(f"{task}/{name}", ""))
            for command, table in (("score", asked.SCORE + asked.SCORE_ONCE * (not k)), ("explain", asked.EXPLAIN)):
                for end in asked.expanded(table):
                    keeper.command(task, command, task, gold, b if "d3" in end else a, *needed, *end)
            for end in asked.expanded(asked.COMPARE if not k else "--correlations --differences"):
                keeper.command(task, "compare", task, gold, f"A={a}", f"B={b}", "--resamples", "99", *needed, *end)
            for bad in broken:
                keeper.command(task, "score", task, gold, bad, *needed)
                keeper.command(task, "score", task, bad, a, *needed)
            for end in asked.expanded(asked.CHOICES[task]) if not k else ():
                keeper.command(task, "score", task, gold, a, *end)
                short = list(itertools.takewhile(lambda one: one != "--by", end))
                keeper.command(task, "explain", task, gold, a, *short)
                keeper.command(task, "compare", task, gold, f"A={a}", f"B={b}", "--resamples", "99", *short)
    for argv in asked.expanded(asked.MORE):
        if "gold.any" in argv:  # several runs of one system
            gold, a, b, *_ = next(iter(files[argv[1]].values()))
            argv = [one.replace("gold.any", gold).replace("a.any", a).replace("b.any", b) for one in argv]
        keeper.command(argv[0], *argv)


def near(reference: str, predicted: str) -> float:
    """A similarity of one's own: the share that the common beginning has in the longer text."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(reference, predicted, strict=False))
    return len(list(same)) / max(len(reference), len(predicted), 1)


def structured(document: data.Document, kinds: tuple[Any, Any]) -> dict[str, Any]:
    """A document as one value, with something for every part of the algebra."""
    tree, graph = kinds
    items = data.invoice(document)["items"]
    for one in items:
        one |= {"date": f"2026-03-{1 + one['where'][0]:02}", "kind": one.get("kind")}
    labels, parents = [type_ for type_, _, _ in document.events], document.parents

    def node(k: int, nested: bool) -> Any:
        below = [node(n, nested) for n, parent in enumerate(parents) if parent == k]
        label = labels[k] if k >= 0 else "top"
        return {"label": label, "children": below} if nested else tree(label, below)

    triples = [{"rel": type_, "subj": f"x{a.entity}", "obj": f"x{b.entity}"} for type_, a, b in document.relations]
    edges = [(parent, k) for k, parent in enumerate(parents) if parent >= 0] + [(len(parents) - 1, 0)] * (
        len(parents) > 2
    )
    return {
        "title": document.tokens[0], "items": items, "triples": triples, "tree": node(-1, False), "nested": node(-1, True),
        "nodes": [{"id": f"x{k}", "label": some[0].type} for k, some in document.entities().items()], "graph": graph(labels, edges),
        "sets": [[one.start for one in some] for some in document.entities().values()],
        "mixed": [one.start if one.end % 3 else [one.kind, one.type] if one.end % 2 else document.text(one) for one in document.mentions],
    }  # fmt: skip


def run_algebra(keeper: Keeper) -> None:
    """Expressions over values in memory."""
    home = ts if hasattr(ts, "Tree") else import_module("tallystick.structures")
    kinds = (home.Tree, home.Graph)
    r = random.Random("algebra")
    gold = [data.made(r, f"d{k}") for k in range(9)]
    sides = [[structured(one, kinds) for one in side] for side in (gold, [data.noisy(r, one, 0.35) for one in gold])]
    said = [{"reference": a, "candidate": b, "judge": "anna", "label": ("Correct", "Partial")[k % 2], "same_as": [0]}
            for k, (a, b) in enumerate(itertools.permutations(("Ada", "Homs", "Bank", "city", "cars"), 2))]  # fmt: skip
    write(Path("texts.jsonl"), data.lines(said))
    keeper.command("judge", "judge", "import", "texts.sqlite", "texts.jsonl")
    functions = {"golden:near": near, "golden:short": lambda text: text[:1], "tallystick:words": ts.words}
    lines = [frame.replace("F=PHI", f"{name}={phi.strip()}") for name, some in asked.LEAVES.items() for phi in some.split("\n")
             for frame in asked.spread(asked.FRAMES)]  # fmt: skip
    for line in (*lines, *asked.spread(asked.WHOLE)):
        keeper.evaluation(line, functions, *sides)


def run_real(keeper: Keeper) -> None:
    """The real corpora, by default and by the presets that the docs name."""
    if not SHARED.is_dir():
        return
    cases = json.loads((SHARED / "events/cases.json").read_text())
    scirex = json.loads(gzip.decompress((SHARED / "events/scirex_dev_perturbed.json.gz").read_bytes()))
    official = json.loads(gzip.decompress((SHARED / "events/muc4_official/systems.json.gz").read_bytes()))
    for name in ("ge", "lsi", "nyu", "sra"):
        write(Path(f"real/muc4.{name}"), json.dumps({"": official[f"tst3/{name}"]}))
    for side in ("gold", "pred"):
        write(Path(f"real/scirex.{side}"), data.lines(scirex[side]))
        for name in ("textee_wikievents_eae", "textee_wikievents_e2e_perturbed"):
            write(Path(f"real/{name}.{side}"), json.dumps(cases[name][side]))
    write(Path("real/gtt.gold"), json.dumps(cases["gold"]["muc4_test_gtt"]))
    write(Path("real/grit.gold"), json.dumps(cases["gold"]["muc4_test_grit_role_entities"]))
    for name, found in cases["pred"]["muc4"].items():
        write(Path(f"real/gtt.{name}"), json.dumps({key: {"pred_templates": some} for key, some in found.items()}))
    for name, found in cases["pred"]["grit"].items():
        write(Path(f"real/grit.{name}"), json.dumps(found))
    known = {one["doc_id"] for one in cases["textee_wikievents_eae"]["pred"]}
    for name, source in (("gold", "test.jsonl"), ("coref", "coref_test.jsonlines")):
        some = [json.loads(line) for line in (SHARED / "events/wikievents" / source).read_text().splitlines()]
        write(
            Path(f"real/wikievents.{name}"),
            data.lines(one for one in some if (one.get("doc_id") or one["doc_key"]) in known),
        )
    for one in json.loads((SHARED / "coreference/corefud.json").read_text())["cases"]:
        pair = [
            write(Path(f"real/{one['id'].replace('/', '-')}.{side}.conllu"), one[side]) for side in ("key", "response")
        ]
        for mentions in ("exact", "head", "partial"):
            keeper.command("real", "score", "coreference", *pair, "--mentions", mentions)
    for argv in asked.expanded(asked.REAL.replace("@", f"{SHARED}/")):
        keeper.command("real", *argv)


# Comparing two runs


class Differences:
    """What differs between two runs, sorted."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {"figure": [], "shape": [], "wording": []}
        self.numbers = 0

    def add(self, kind: str, path: tuple[str, ...], before: Any, after: Any) -> None:
        self.found[kind].append(f"{'/'.join(path)}: {json.dumps(before):.120} -> {json.dumps(after):.120}")

    def walk(self, path: tuple[str, ...], a: Any, b: Any) -> None:
        """Two values at one place."""
        worded = any(key in WORDING for key in path[1:])
        if isinstance(a, dict) and isinstance(b, dict):
            for key in dict.fromkeys((*a, *b)):
                if key in a and key in b:
                    self.walk((*path, key), a[key], b[key])
                else:
                    kind = "wording" if worded or key in WORDING else "figure" if _table(a) or _table(b) else "shape"
                    self.add(kind, (*path, key), a.get(key, MISSING), b.get(key, MISSING))
        elif worded or (any(key in TEXTS for key in path[1:]) and isinstance(a, str | list)):
            if a != b:
                self.add("wording" if worded or _numbers(a) == _numbers(b) else "figure", path, *_first(a, b))
        elif isinstance(a, list) and isinstance(b, list):
            for k, (left, right) in enumerate(itertools.zip_longest(a, b, fillvalue=MISSING)):
                self.walk((*path, str(k)), left, right)
        else:
            self.numbers += isinstance(a, int | float)
            if repr(a) != repr(b):
                self.add("figure", path, a, b)


def _table(found: dict[str, Any]) -> bool:
    return any(all(isinstance(one, kind) for one in found.values()) for kind in (dict, int | float | None))


def _numbers(text: Any) -> list[str]:
    flat = text if isinstance(text, str) else "\n".join(map(str, text))
    return re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", re.sub(r"tallystick \d[\d.]*", "", flat))


def _first(a: Any, b: Any) -> tuple[Any, Any]:
    if isinstance(a, list) and isinstance(b, list):
        return next(pair for pair in itertools.zip_longest(a, b) if pair[0] != pair[1])
    return a, b


def compare(before: Path, after: Path) -> int:
    """1 if a figure, an exit code or a run differs."""
    names = [{str(path.relative_to(folder)) for path in folder.rglob("*.json")} for folder in (before, after)]
    found = Differences()
    for name in sorted(names[0] ^ names[1]):
        found.add("figure", (name,), name in names[0], name in names[1])
    for name in sorted(names[0] & names[1]):
        found.walk((name,), *(json.loads((folder / name).read_text()) for folder in (before, after)))
    print(
        f"{len(names[0] & names[1]):,} runs, {found.numbers:,} numbers compared:",
        ", ".join(f"{len(some):,} x {kind}" for kind, some in found.found.items()),
    )
    for kind, some in found.found.items():
        print(
            *(f"{kind}  {one}" for one in (some if kind == "figure" else some[:40])), sep="\n", end="\n" if some else ""
        )
    return int(bool(found.found["figure"]))


def keep(folder: Path) -> int:
    """Run everything."""
    os.environ |= {"COLUMNS": "200", "NO_COLOR": "1"}
    warnings.simplefilter("ignore")
    keeper, home = Keeper(folder.resolve()), Path.cwd()
    shutil.rmtree(keeper.folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        os.chdir(made)
        try:
            run_made(keeper, prepare())
            run_algebra(keeper)
            run_real(keeper)
        finally:
            os.chdir(home)
    used = sum(os.times()[:4])
    print(f"{keeper.count:,} runs, {used:.0f} CPU s; exit codes {dict(sorted(keeper.codes.items()))}")
    print("CPU s by task:", ", ".join(f"{task} {seconds:.0f}" for task, seconds in keeper.seconds.most_common()))
    return 0


def main(arguments: list[str]) -> int:
    if len(arguments) == 2 and arguments[0] == "keep":
        if (
            "PYTHONHASHSEED" not in os.environ
        ):  # explanations list the members of a Python set in the order of their hashes
            os.environ["PYTHONHASHSEED"] = "0"
            os.execv(sys.executable, [sys.executable, "-m", "benchmarks.golden", *arguments])
        return keep(Path(arguments[1]))
    if len(arguments) == 3 and arguments[0] == "compare":
        return compare(Path(arguments[1]), Path(arguments[2]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
