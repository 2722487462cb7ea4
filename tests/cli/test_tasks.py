"""Every task says of itself what the command line has to know; a new one that says nothing is never guessed about."""

import json
import sys
from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from tallystick.cli.commands import TASKS, WITHOUT_EXPLANATION, explain, score, tallystick
from tallystick.cli.compare import compare, task_command
from tallystick.cli.tasks import task
from tallystick.errors import MetricError
from tallystick.files.boundaries import BY_TASK


@pytest.mark.parametrize("name", TASKS)
def test_a_task_says_what_it_has(name):
    known = task(name)
    assert callable(known.results)
    assert isinstance(known.score, click.Command)
    assert (known.explain is None) == (name in WITHOUT_EXPLANATION)
    assert name in BY_TASK
    options = {one.name for one in known.score.params}
    assert {"metrics", "expression"} & known.accepted & options
    assert not known.accepted & {"reference", "predicted", "missing", "common", "by", "format_", "jobs", "document"}
    module = known.module
    has = set(getattr(module, "BREAKDOWNS", ()))
    assert has <= {"label", "field"}
    assert not has & set(getattr(module, "NO_BREAKDOWN", {}))
    assert set(getattr(module, "WHOLE_BREAKDOWNS", ())) <= has
    assert getattr(module, "INPUT", "input_") in options | {"input_"}
    assert known.labels.keys() >= {one for one in [getattr(module, "LABEL", None)] if one}
    for by in ("label", "field"):
        if by in has:
            known.check_breakdown(by)
        else:
            with pytest.raises(MetricError, match=f"no figures by {by}; use --"):
                known.check_breakdown(by)
    known.check_breakdown("document")
    if hasattr(module, "whole"):  # the options that it looks at are there
        defaults = known.score.make_context("score", ["gold", "system"]).params
        known.check_shards({key: value for key, value in defaults.items() if key in known.accepted})
    assert hasattr(module, "survey") == hasattr(module, "surveyed")
    assert set(known.of_one_system) <= known.accepted & options
    assert {one.name for one in task_command(name).params if isinstance(one, click.Option)} >= known.accepted & options


@pytest.mark.parametrize("name", TASKS)
def test_a_task_without_missing_documents_says_why(name):
    try:
        assert task(name).takes_missing("empty")
    except MetricError as error:
        assert "one text that both sides share" in str(error)  # noqa: PT017
        assert name == "dependencies"


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tallystick.tasks.keyphrases.task", import_module("keyphrases"))
    import keyphrases

    monkeypatch.setattr(keyphrases.score.callback, "__module__", "tallystick.tasks.keyphrases.task", raising=False)
    for group, attribute in ((score, "score"), (explain, "explain")):
        monkeypatch.setitem(group.lazy, "keyphrases", (f"tallystick.tasks.keyphrases.task:{attribute}", "phrases"))
    monkeypatch.setitem(compare.lazy, "keyphrases", ("", "phrases"))
    (tmp_path / "gold").write_text("a\nb\n\nc\n\n")
    (tmp_path / "system").write_text("b\na\n\nc\n")
    monkeypatch.chdir(tmp_path)

    def call(*arguments, code=0):
        done = CliRunner().invoke(tallystick, arguments)
        assert done.exit_code == code, (done.output, done.exception)
        return done

    return call


def test_a_new_task_is_not_cut_where_nobody_knows_its_documents(call):
    whole = json.loads(call("score", "keyphrases", "gold", "system", "--format", "json").stdout)
    assert (whole["documents"], whole["metrics"]["phrases"]["f1"]) == (2, 1.0)
    done = call("score", "keyphrases", "gold", "system", "--shard", "2B")
    assert "where documents of keyphrases begin is not known" in done.stderr
    cut = call("score", "keyphrases", "gold", "system", "--shard", "2B", "--format", "json")
    assert json.loads(cut.stdout) == whole


def test_a_new_task_refuses_what_it_does_not_have(call):
    for by in ("label", "field"):
        for more in ([], ["--jobs", "1"]):
            done = call("score", "keyphrases", "gold", "system", "--by", by, *more, code=2)
            assert f"this task has no figures by {by}; use --by document" in done.output
    assert "keyphrases has no `explain`" in call("explain", "keyphrases", "gold", "system", code=2).output
    done = call("compare", "keyphrases", "gold", "system", "--missing", "empty", code=2)
    assert "--missing empty: keyphrases cannot tell which documents a system did not answer" in done.output
    assert "1.0" in call("compare", "keyphrases", "gold", "A=system", "B=gold", "--resamples", "10").stdout
