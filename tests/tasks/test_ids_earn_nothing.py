"""The id pairs the documents and earns no credit, whatever compares them: also if a metric of one's own takes a document as a whole."""

import json

import pytest

import tallystick as ts
from running import run

GOLD = [{"id": f"x{k}", "name": name, "tags": "t"} for k, name in enumerate("abcd")]
SYSTEM = [{**one, "tags": "u" if k % 2 else "t"} for k, one in enumerate(GOLD)]
PLAIN = [[{key: value for key, value in one.items() if key != "id"} for one in side] for side in (GOLD, SYSTEM)]
METRICS = ["f1(match(exact))", "f1(match(record(key=exact, value=exact)))", "f1(exact)", "recall(match(equal))"]


@pytest.mark.parametrize("metric", METRICS)
def test_in_memory_by_id_and_by_order(metric):
    wanted = ts.score(*PLAIN, metric=metric)["records"].tally
    assert ts.score(GOLD, SYSTEM, metric=metric)["records"].tally == wanted
    assert ts.score(GOLD, SYSTEM[::-1], metric=metric)["records"].tally == wanted
    assert ts.score(GOLD, PLAIN[1], metric=metric)["records"].tally == wanted  # only references have ids


@pytest.mark.parametrize("jobs", [(), ("--jobs", "2", "--shard", "200")])
@pytest.mark.parametrize("metric", METRICS)
def test_in_files_with_the_answer_inside(tmp_path, metric, jobs):
    rows = {
        "gold": GOLD,
        "system": SYSTEM,
        "inside": [{"id": one["id"], "output": bare} for one, bare in zip(SYSTEM, PLAIN[1], strict=True)],
        "nested": [{"meta": {"id": one["id"], "n": "m"}, "name": "a"} for one in GOLD],
        "unnamed": [{"meta": {"n": "m"}, "name": "a"} for _ in GOLD],
    }
    for name, some in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in some))
    wanted = ts.score(*PLAIN, metric=metric)["records"].tally

    def found(gold, system, *options):
        files = (str(tmp_path / f"{name}.jsonl") for name in (gold, system))
        done = run("score", "records", *files, "--metric", metric, "--format", "json", *options, *jobs)
        return json.loads(done.stdout)["metrics"]["records"]["tally"]

    assert found("gold", "system") == wanted
    assert found("gold", "inside", "--from", "output") == wanted
    assert found("gold", "gold") == ts.score(PLAIN[0], PLAIN[0], metric=metric)["records"].tally
    if metric == "f1(exact)" and not jobs:
        assert found("nested", "nested", "--id", "meta.id") == found("unnamed", "unnamed")


def test_a_field_that_is_named_counts():
    """An expression that names the id asks for it, as a choice would."""
    found = ts.score(GOLD, SYSTEM, metric="f1(each(id=exact, tags=exact))")["records"]
    assert found.tally == {"num_p": 6, "den_p": 8, "num_r": 6, "den_r": 8}
