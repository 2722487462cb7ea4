"""`tallystick suggest`: what a line promises is what it gives, to the last bit, alone and with all others; nothing is applied."""

import json

import pytest

import tallystick as ts
from running import run
from tallystick.errors import MetricError, TallystickError

GOLD = [
    {"id": str(k), "vendor": f"Acme {k} Ltd.", "total": 100.25 + k, "date": f"2024-04-{k + 1:02d}", "paid": k % 2 == 0,
     "lines": [{"sku": f"A-{k}{n}", "text": f"Steel hammer no {n}", "price": 9.99 * (n + 1)} for n in range(3)], "tags": ["Red", f"t{k}"]}
    for k in range(12)
]  # fmt: skip


def spoil(one, k):
    lines = [{**line, "price": round(line["price"], 1) if k % 4 == 0 else line["price"]} for line in one["lines"]]
    spoiled = {
        **one,
        "vendor": one["vendor"].upper() if k % 3 == 0 else one["vendor"].replace(".", ""),
        "total": f"{one['total']:.2f} €".replace(".", ",") if k % 2 else one["total"],
        "date": one["date"].replace("2024-04-", "") + " April 2024" if k % 3 else one["date"],
        "paid": "yes" if one["paid"] else "nein",
        "lines": lines[: 3 - k % 2],
        "tags": ["red", one["tags"][1]],
    }
    return spoiled if k != 7 else {"id": one["id"], "vendor": "Nobody"}


SYSTEM = [spoil(one, k) for k, one in enumerate(GOLD)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suggest")
    for name, side in (("gold", GOLD), ("system", SYSTEM)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in side))
    return str(folder / "gold.jsonl"), str(folder / "system.jsonl"), folder


@pytest.mark.parametrize(
    "options",
    [{}, {"credit": "all"}, {"equality": "exact"}, {"choices": {"lines": {"key": "sku"}, "vendor": {"weight": 2}}}],
)
def test_promises_are_kept_to_the_bit(options):
    found = ts.suggest(GOLD, SYSTEM, **options)
    before = ts.score(GOLD, SYSTEM, **options)
    assert found.f1 == before.f1
    assert len(found.lines) >= 4
    given = options.get("choices", {})
    right = {row.path: row.aligned - row.wrong for row in before["records"].by_field()}
    for one in (*found.lines, *found.instead):
        after = ts.score(GOLD, SYSTEM, **{**options, "choices": {**given, one.path: one.choice}})
        assert after.f1 == one.f1
        assert after.f1 - before.f1 == one.gain > 0
        now = {row.path: row.aligned - row.wrong for row in after["records"].by_field()}
        assert now[one.path] - right[one.path] == one.values
        assert 1 <= len(one.examples) <= 3
    assert ts.score(GOLD, SYSTEM, **{**options, "choices": found.choices}).f1 == found.f1_with_all
    assert all(one.means_same for one in found.lines)
    assert not any(one.means_same for one in found.instead)


def test_the_file_gives_what_was_promised(files):
    gold, system, folder = files
    written = folder / "choices.yaml"
    done = run("suggest", "records", gold, system, "--output", str(written), "--format", "json")
    found = json.loads(done.stdout)
    assert f"--choices {written}" in done.stderr
    after = json.loads(run("score", "records", gold, system, "--choices", str(written), "--format", "json").stdout)
    assert _f1(after) == found["f1_with_all"]
    before = json.loads(run("score", "records", gold, system, "--format", "json").stdout)
    assert _f1(before) == found["f1"]
    for one in (*found["lines"], *found["instead"]):
        (folder / "one.json").write_text(json.dumps({one["path"]: one["choice"]}))
        alone = json.loads(
            run("score", "records", gold, system, "--choices", str(folder / "one.json"), "--format", "json").stdout
        )
        assert _f1(alone) - _f1(before) == one["gain"]
    shown = run("suggest", "records", gold, system).stdout
    assert shown == written.read_text(encoding="utf-8")
    assert "# rounding: " in shown
    assert "\n# 'lines[*].price': {number: " in shown
    again = ts.suggest(gold, system, choices=str(written))
    assert again.lines == ()
    assert again.f1 == found["f1_with_all"]
    assert "vendor: " in str(again)  # what was chosen before is written again


def _f1(data):
    (metric,) = data["metrics"].values() if "metrics" in data else [data]
    return metric.get("figures", metric)["f1"]


def test_what_was_chosen_before_stays():
    found = ts.suggest(
        GOLD,
        SYSTEM,
        choices={"vendor": {"text": "levenshtein", "weight": 2}, "total": ts.number(absolute=0.5), "tags": "ordered"},
    )
    lines = {one.path: one.choice for one in found.lines}
    assert lines["vendor"] == {"weight": 2, "text": ["levenshtein", "casefold", "punctuation", "whitespace"]}
    assert found.choices["tags"] == "ordered"
    assert str(found)


def test_nothing_to_suggest():
    found = ts.suggest(GOLD, GOLD)
    assert (found.lines, found.instead, found.f1, found.f1_with_all) == ((), (), 1.0, 1.0)
    assert "Nothing to suggest" in str(found)
    assert str(found).endswith("{}\n")


def test_calls_have_choices_too():
    gold = [{"id": 1, "calls": [{"name": "find", "arguments": {"city": "Bern", "n": 1}}]}]
    system = [{"id": 1, "calls": [{"name": "find", "arguments": {"city": "BERN", "n": 1}}]}]
    (line,) = ts.suggest(gold, system, task="calls").lines
    assert (line.path, line.kinds) == ("calls[*].arguments.city", ("case",))
    assert (
        ts.calls(gold, system, choices={line.path: line.choice})[ts.suggest(gold, system, task="calls").metric].f1
        == line.f1
    )


def test_bad_input_is_said(files):
    gold, system, folder = files
    assert "neither can be standard input" in run("suggest", "records", "-", system, code=2, input="{}").stderr
    assert "no such file" in run("suggest", "records", gold, str(folder / "none.jsonl"), code=2).stderr
    assert (
        "--metric says how everything is compared"
        in run("suggest", "records", gold, system, "--metric", "f1(exact)", code=2).stderr
    )
    assert "spans has no choices" in run("suggest", "spans", gold, system, code=2).stderr
    with pytest.raises(MetricError, match="spans has no choices"):
        ts.suggest(GOLD, SYSTEM, task="spans")
    with pytest.raises(TallystickError, match="no option 'chioces'"):
        ts.suggest(GOLD, SYSTEM, chioces={})
