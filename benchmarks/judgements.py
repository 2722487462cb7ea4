"""A store of judgements over long documents: `python -m benchmarks.judgements`.

2,000 questions over 20 documents of 200,000 characters are put into a store, judged, read and scored with. Printed are CPU seconds,
and the size of the file.
"""

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tallystick.judging import Judgement, Question, Store, Verdict
from tallystick.judging.recorded import Recorded


def generate(questions: int = 2_000, documents: int = 20, length: int = 200_000, seed: int = 1) -> list[Question]:
    """Questions in the order of their documents."""
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyzé"
    words = ["".join(rng.choices(letters, k=rng.randrange(3, 9))) for _ in range(5_000)]
    texts = [" ".join(rng.choices(words, k=length // 3))[:length] for _ in range(documents)]
    return [
        Question(
            f"candidate {k}", ("a reference",), texts[k * documents // questions], "attack", "hit", "target", (0, 5)
        )
        for k in range(questions)
    ]


def steps(path: Path, questions: list[Question]) -> list[tuple[str, Callable[[], Any]]]:
    """What is done, by its name."""

    def with_store(work: Callable[[Store], Any]) -> Any:
        with Store(path) as store:
            return work(store)

    said = [Judgement(one, "anna", Verdict("Correct", (0,))) for one in questions]
    return [
        ("put the questions, with their keys", lambda: with_store(lambda store: store.add_questions(questions))),
        ("judge them all", lambda: with_store(lambda store: store.add_all(said))),
        ("read the queue", lambda: with_store(lambda store: store.questions())),
        ("read the judgements", lambda: with_store(lambda store: store.judgements())),
        ("score with them", lambda: with_store(lambda store: Recorded(store).judge(questions))),
    ]


def main() -> None:
    """Print the table."""
    questions = generate()
    with tempfile.TemporaryDirectory(prefix="tallystick-") as folder:
        path = Path(folder) / "judgements.sqlite"
        for name, work in steps(path, questions):
            began = time.process_time()
            work()
            print(f"{name:<36} {time.process_time() - began:6.2f} CPU s")
        print(f"{'the file':<36} {path.stat().st_size / 1e6:6.2f} MB")


if __name__ == "__main__":
    main()
