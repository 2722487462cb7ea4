"""Writes `ud/expected.json`: what udtools 0.2.9 counts on the pairs of files in `ud`.

Run it with a Python that has udtools; the tests only read what it wrote.

    pip install udtools==0.2.9 && python tests/parity/make_ud_expected.py
"""

import json
from pathlib import Path

from udtools.udeval import evaluate, load_conllu_file

FOLDER = Path(__file__).parent / "ud"


def main() -> None:
    expected = {}
    for reference in sorted(FOLDER.glob("*.reference.conllu")):
        name = reference.name.removesuffix(".reference.conllu")
        scores = evaluate(load_conllu_file(str(reference)), load_conllu_file(str(FOLDER / f"{name}.predicted.conllu")))
        expected[name] = {
            metric: [score.correct, score.gold_total, score.system_total, score.aligned_total]
            for metric, score in scores.items()
        }
    lines = ",\n".join(
        f'  "{name}": {{\n' + ",\n".join(f'    "{metric}": {json.dumps(row)}' for metric, row in rows.items()) + "\n  }"
        for name, rows in expected.items()
    )
    (FOLDER / "expected.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
