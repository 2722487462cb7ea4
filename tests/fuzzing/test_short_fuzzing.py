"""A few hundred mutants for every reader, always the same ones; `python -m fuzzing` is the long version."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallystick as ts
from fuzzing.mutation import mutated
from fuzzing.targets import READERS, TARGETS, Target
from fuzzing.trying import Attempts, try_plainly
from tallystick.errors import InputError, TallystickError
from tallystick.files.source import Opening, find_format
from tallystick.tasks.contract import find_task, task_names
from tallystick.tasks.records.score import prepare, run_prepared
from tallystick.tasks.records.task import RecordSettings


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_comes_out_but_results_and_errors_of_our_own(name):
    found = try_plainly(TARGETS[name], times=60)
    assert not found, "\n\n".join(f"{one.key}\n{one.message}\n{one.data!r}" for one in found)


@pytest.mark.parametrize("name", TARGETS)
def test_the_first_seed_of_each_target_is_read(name, capsys):
    attempts = Attempts(TARGETS[name])
    try:
        attempts.target.run(attempts.seeds[0], attempts.seeds[0])
    finally:
        attempts.close()


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: [None][1], "IndexError"),
        (lambda: _forever(), "TooSlow"),
        (lambda: __import__("warnings").warn("numbers overflow", RuntimeWarning, stacklevel=1), "RuntimeWarning"),
        (lambda: {"f1": ts.evaluate(ts.f1(ts.match(ts.exact)), [["a"]], [["b"]])}, "AssertionError: f1: a prediction"),
        (lambda: _raise(InputError("\ud800")), "unprintable message"),
        (lambda: _raise(InputError("x" * 10_000)), "endless message"),
    ],
)
def test_the_oracle_sees_what_it_is_there_for(answer, key, monkeypatch):
    monkeypatch.setattr("fuzzing.trying.SECONDS", 0.2)
    attempts = Attempts(Target("t", lambda reference, predicted: answer(), (b"",), ".txt"))
    try:
        found = attempts.attempt(b"x")
    finally:
        attempts.close()
    assert found is not None
    assert found.key.startswith(key)


def test_the_oracle_lets_errors_of_our_own_pass():
    attempts = Attempts(
        Target("t", lambda reference, predicted: _raise(InputError("is wrong", predicted)), (b"",), ".txt")
    )
    try:
        assert attempts.attempt(b"x") is None
    finally:
        attempts.close()


def _forever():
    while True:
        pass


def _raise(error):
    raise error


def test_mutants_of_json_are_mostly_json():
    import json

    chance = random.Random(0)
    target = TARGETS["events-textee"]
    fine = 0
    for _ in range(200):
        mutant = mutated(target.seeds[0], chance, target.words, as_json=True)
        try:
            json.loads(mutant.splitlines()[0])
        except (ValueError, IndexError):
            continue
        fine += 1
    assert 120 < fine < 200


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(VALUES, min_size=1, max_size=4))
@settings(max_examples=60)
def test_any_json_is_like_itself_or_says_why_not(tmp_path_factory, documents):
    """The JSON intake as a whole: inference, derivation, reading, pairing, scoring."""
    import msgspec

    file = tmp_path_factory.mktemp("any") / "any.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, documents)))
    for credit in ("each", "all"):
        try:
            result = run_prepared(prepare(file, file, RecordSettings(credit=credit))).result
        except TallystickError:
            continue
        assert result.score is None or result.score == pytest.approx(1)


def test_every_target_belongs_to_one_reader():
    assert sorted(name for names in READERS.values() for name in names) == sorted(TARGETS)


@pytest.mark.parametrize("task", task_names())
def test_every_format_that_a_task_declares_is_among_the_seeds(task, tmp_path):
    pytest.importorskip("pyarrow")
    laid = [
        Opening(target.lay(seed, tmp_path, f"{target.name}{k}"))
        for target in TARGETS.values()
        for k, seed in enumerate(target.seeds)
    ]
    formats = find_task(task).formats()
    found = {format_of(formats, opening) for opening in laid}
    missing = [one.name for one in formats if one.name not in found]
    assert not missing, "add a small file of this format to the seeds of a target in fuzzing/targets.py"


def format_of(formats, opening):
    try:
        return getattr(find_format(formats, opening), "name", None)
    except TallystickError:
        return None
