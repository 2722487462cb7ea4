"""The tables of three papers, recomputed from what they print, in Python and through `compare figures`."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

import tallystick
from running import run
from tallystick.cli.figures import read_figures
from tallystick.results.compare import compare_runs

EXAMPLES = Path(tallystick.__file__).parent / "examples"


def figures(name, *options):
    return json.loads(run("compare", "figures", str(EXAMPLES / name), "--format", "json", *options).stdout)


def agreement(rows, first, second):
    return next(row for row in rows if (row["first"], row["second"]) == (first, second))


def test_rankings_under_three_models_of_segments():
    """Tables 2 and 3 on CoNLL'02 and '03; the printed Table 3 (.832, .832, .990) does not follow from Table 2."""
    found = figures("figures.conll-rankings.csv", "--ascending")
    for task, seg_ts in (("English", 0.8794), ("German", 0.8971), ("Spanish", 0.7692)):
        assert agreement(found["tasks"][task]["correlations"], "Seg", "TS")["spearman"] == pytest.approx(
            seg_ts, abs=5e-5
        )
    for first, second, mean in (("Seg", "TS", 0.8486), ("Seg", "T", 0.8544), ("TS", "T", 0.9971)):
        assert agreement(found["mean_correlations"], first, second)["spearman"] == pytest.approx(mean, abs=5e-5)
    english = found["tasks"]["English"]["systems"]
    assert english["en11"]["TS"]["moved"] == 6  # "jumping no less than 6 positions up"
    assert [english[f"en{n:02d}"]["TS"]["moved"] for n in (5, 12)] == [-3, -3]
    assert found["tasks"]["German"]["systems"]["ge09"]["TS"]["moved"] == 7  # printed: "8 positions"
    assert found["tasks"]["Spanish"]["systems"]["sp03"]["TS"]["moved"] == -7


# Table 8 on event arguments: rank and arrow under the human and the automatic matcher
RAMS = {
    "PAIE": ((1, 0), (1, 0)), "T-CR": ((3, -1), (2, 0)), "T-C": ((6, -3), (6, -3)), "X-Gear": ((7, -3), (7, -3)),
    "AMPERE": ((5, 0), (5, 0)), "DEGREE": ((4, 2), (4, 2)), "BART-Gen": ((2, 5), (3, 4)), "CRF-T": ((8, 0), (8, 0)),
    "EEQA": ((9, 0), (9, 0)),
}  # fmt: skip
GENEVA = {
    "T-CR": ((1, 0), (1, 0)), "T-C": ((2, 0), (2, 0)), "X-Gear": ((3, 0), (3, 0)), "CRF-T": ((5, -1), (6, -2)),
    "PAIE": ((8, -3), (8, -3)), "DEGREE": ((4, 2), (4, 2)), "EEQA": ((9, -2), (9, -2)), "AMPERE": ((6, 2), (5, 3)),
    "BART-Gen": ((7, 2), (7, 2)),
}  # fmt: skip


def test_ranks_with_arrows_and_kendall_of_event_arguments():
    found = figures("figures.event-arguments.csv", "--ties", "order")
    for task, printed in (("RAMS", RAMS), ("GENEVA", GENEVA)):
        for system, expected in printed.items():
            cells = found["tasks"][task]["systems"][system]
            assert [(cells[m]["rank"], cells[m]["moved"]) for m in ("human", "automatic")] == list(expected)
    rams, geneva = (found["tasks"][task]["correlations"] for task in ("RAMS", "GENEVA"))
    for variant in "abc":  # nothing is tied, so all are one
        assert agreement(rams, "exact", "human")[f"kendall_{variant}"] == pytest.approx(0.4444, abs=5e-5)
        assert agreement(geneva, "exact", "human")[f"kendall_{variant}"] == pytest.approx(0.6667, abs=5e-5)
        for rows in (rams, geneva):
            assert agreement(rows, "human", "automatic")[f"kendall_{variant}"] == pytest.approx(0.9444, abs=5e-5)


def test_the_tie_of_the_printed_figures():
    """AMPERE and DEGREE have 46.5; the paper ranks them 5 and 6."""
    found = figures("figures.event-arguments.csv")["tasks"]["RAMS"]
    assert [found["systems"][name]["exact"]["rank"] for name in ("AMPERE", "DEGREE")] == [5.5, 5.5]
    assert agreement(found["correlations"], "exact", "human")["kendall_b"] == pytest.approx(0.479, abs=5e-4)


def test_ranks_of_splits():
    """Tables 2 and 9: the mean of five splits (the splits themselves are not printed) and the first split."""
    found = figures("figures.event-splits.csv", "--ties", "order")["tasks"]
    printed = {
        "RAMS": {"PAIE": (1, 1), "T-CR": (2, 2), "T-C": (3, 3), "X-Gear": (5, 4), "AMPERE": (4, 5), "DEGREE": (6, 6),
                 "BART-Gen": (7, 7), "CRF-T": (9, 8), "EEQA": (8, 9)},
        "GENEVA": {"T-CR": (1, 1), "T-C": (2, 2), "X-Gear": (3, 3), "CRF-T": (4, 4), "PAIE": (5, 5), "DEGREE": (9, 6),
                   "EEQA": (6, 7), "AMPERE": (7, 8), "BART-Gen": (8, 9)},
    }  # fmt: skip
    for task, systems in printed.items():
        cells = found[task]["systems"]
        assert {s: (cells[s]["5 splits"]["rank"], cells[s]["split 1"]["rank"]) for s in systems} == systems


def test_averages_of_coreference_scores():
    """Every printed average is the mean of MUC, B³ and CEAF-e cut to one digit, given that these are cut too: the mean
    of the whole figures lies in [mean, mean + 0.1) of the printed ones. One row does not fit."""
    apart = []
    for task, systems in read_figures(EXAMPLES / "figures.conll-averages.csv").tasks.items():
        for system, runs in systems.items():
            run_ = {metric: Fraction(str(value)) for metric, value in runs[""].items()}
            low = (run_["muc"] + run_["b3"] + run_["ceaf_e"]) / 3
            possible = {Fraction(math.floor(10 * low), 10), Fraction(math.ceil(10 * low + 1) - 1, 10)}
            if "printed" in run_ and run_["printed"] not in possible:
                apart.append((task, system, float(round(low, 1)), float(run_["printed"])))
    assert apart == [("CoNLL-2011", "kobdani", 40.8, 38.7)]


def test_averages_through_the_command():
    shown = run(
        "compare", "figures", str(EXAMPLES / "figures.conll-averages.csv"), "--mean", "conll=muc,b3,ceaf_e",
        "--from", "muc", "--truncate", "--no-correlations", "--format", "markdown",
    ).stdout  # fmt: skip
    cells = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in shown.splitlines() if "№" in line}
    assert cells["lee"][8].startswith("**51.5** ")
    assert cells["charton"][8].startswith("41.6 ")  # 41.67, which rounding would make 41.7; printed 41.6
    assert cells["kobdani"][7].startswith("38.7 ")
    assert cells["kobdani"][8].startswith("40.8 ")


def test_the_bundled_tables_are_whole():
    """Table 1 of Pradhan et al., Table 2 of Esuli and Sebastiani, Tables 6 and 7 of Fane et al."""
    found = {
        name: read_figures(EXAMPLES / f"figures.{name}.csv").tasks
        for name in ("conll-averages", "conll-scores", "event-stages")
    }
    sizes = {name: {task: len(systems) for task, systems in tasks.items()} for name, tasks in found.items()}
    assert sizes == {
        "conll-averages": {"CoNLL-2011": 18, "CoNLL-2012": 15},
        "conll-scores": {"English": 16, "German": 16, "Spanish": 12},
        "event-stages": {"RAMS": 9, "GENEVA": 9},
    }
    columns = {"md", "muc", "b3", "ceaf_m", "ceaf_e", "blanc", "printed"}
    lacking = {
        (task, system): columns - set(runs[""])
        for task, systems in found["conll-averages"].items()
        for system, runs in systems.items()
    }
    assert {key: gone for key, gone in lacking.items() if gone} == {
        ("CoNLL-2012", "fernandes"): {"md"},
        **{("CoNLL-2012", name): {"printed"} for name in list(found["conll-averages"]["CoNLL-2012"])[4:]},
    }


def test_the_f_values_of_table_2_have_its_rankings():
    ranks, scores = (read_figures(EXAMPLES / f"figures.conll-{name}.csv").tasks for name in ("rankings", "scores"))
    for task, systems in scores.items():
        for metric in ("Seg", "TS", "T"):
            by_rank = sorted(systems, key=lambda system: ranks[task][system][""][metric])
            values = [systems[system][""][metric] for system in by_rank]
            assert values == sorted(values, reverse=True)


def test_the_stages_end_in_the_figures_of_table_8():
    stages, table_8 = (
        read_figures(EXAMPLES / f"figures.{name}.csv").tasks for name in ("event-stages", "event-arguments")
    )
    for task, systems in table_8.items():
        for system, runs in systems.items():
            assert {metric: stages[task][system][""][metric] for metric in ("exact", "human", "automatic")} == runs[""]


def test_five_splits_give_mean_spread_and_rank():
    found = compare_runs(
        {
            "A": [{"f1": v} for v in (50.1, 50.2, 50.9, 50.4, 50.9)],
            "B": [{"f1": v} for v in (49.0, 51.0, 49.5, 49.5, 49.5)],
        }
    )
    cell = found.cells["A", "f1"]
    assert (round(cell.value, 1), cell.runs, cell.rank) == (50.5, 5, 1)
    assert cell.spread == pytest.approx(0.3808, abs=1e-4)


def test_arrows_of_figures_count_from_another_metric():
    found = figures("figures.event-arguments.csv", "--ties", "order", "--from", "human")["tasks"]["RAMS"]
    assert found["base"] == "human"
    assert found["systems"]["BART-Gen"]["exact"]["moved"] == -5
    done = run("compare", "figures", str(EXAMPLES / "figures.event-arguments.csv"), "--from", "humn", code=2)
    assert 'Did you mean "human"' in done.stderr


# Correlations averaged over tasks, from what `compare` has written: as Table 3 is made from three languages.


@pytest.fixture
def languages(tmp_path, monkeypatch):
    """Three comparisons of three systems, written as TSV and as JSON, and the values by language, system and metric."""
    monkeypatch.chdir(tmp_path)
    gold = "a B-X\nb I-X\nc O\nd B-Y\n\ne B-X\nf O\n"
    answers = {
        "whole": gold,
        "begins": gold.replace("b I-X", "b O"),
        "splits": gold.replace("b I-X", "b B-X").replace("d B-Y", "d O"),
    }
    found = {}
    for k, language in enumerate(("English", "German", "Spanish")):
        Path("gold.iob").write_text(gold * (k + 1))
        for name, answer in answers.items():
            Path(f"{name}.iob").write_text(answer + gold * k)
        for kind in ("tsv", "json"):
            done = run(
                "compare", "spans", "gold.iob", *(f"{name}={name}.iob" for name in answers), "--format", kind,
                *(part for name in ("segment", "token", "ts") for part in ("--metric", name)), "--correlations", "--differences",
            )  # fmt: skip
            Path(f"{language}.{kind}").write_text(done.stdout)
        found[language] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kind", ["tsv", "json"])
def test_correlations_over_tasks_from_our_own_outputs(languages, kind):
    done = run("compare", "figures", *(f"{name}={name}.{kind}" for name in languages), "--format", "json")
    found = json.loads(done.stdout)
    assert list(found["tasks"]) == list(languages)
    for name, written in languages.items():
        assert found["tasks"][name]["correlations"] == written["correlations"]
        for system, cells in written["systems"].items():
            for metric, cell in cells.items():
                mine = found["tasks"][name]["systems"][system][metric]
                assert (mine["value"], mine["rank"]) == (cell["value"], cell["rank"])
    expected = [
        math.fsum(written["correlations"][k]["spearman"] for written in languages.values()) / 3 for k in range(3)
    ]
    assert [row["spearman"] for row in found["mean_correlations"]] == pytest.approx(expected)
    assert "intervals and tests are not" in done.output


def test_our_own_outputs_have_four_decimals_and_files_name_their_tasks(languages):
    done = run("compare", "figures", "English.tsv", "German.json", "--format", "table")
    assert [line.strip() for line in done.stdout.splitlines()].count("German") == 2  # the figures, and the correlations
    assert "1.0000" in done.stdout
    assert "0.0000000" not in done.stdout
    assert "two tasks are called 'X'" in run("compare", "figures", "X=English.tsv", "X=German.tsv", code=2).stderr


def test_lower_is_better_is_kept(tmp_path):
    rows = "system\tmetric\tvalue\tlow\thigh\tspread\truns\trank\tmoved\tbeats\tletter\nA\ter\t0.1\t\t\t\t1\t1.0\t0.0\t\t\nB\ter\t0.2\t\t\t\t1\t2.0\t0.0\t\t\n"
    (tmp_path / "x.tsv").write_text(rows)
    content = {"metrics": {"er": {"figure": "rate", "average": "micro", "lower_is_better": True}}}
    content["systems"] = {"A": {"er": {"value": 0.1}}, "B": {"er": {"value": 0.2}}}
    (tmp_path / "x.json").write_text(json.dumps(content))
    for kind in ("tsv", "json"):
        done = run("compare", "figures", str(tmp_path / f"x.{kind}"), "--format", "json")
        assert json.loads(done.stdout)["systems"]["A"]["er"]["rank"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"metrics": 3}', 'has no "systems"'),
        ('{"systems": {}}', "has no systems"),
        ('{"tasks": {"T": 3}}', "tasks.T is 3; expected an object"),
        ('{"systems": {"A": {"x": 3}}}', "systems.A.x is 3; expected an object"),
        ('{"metrics": 3, "systems": {"A": {"x": {"value": 1}}}}', "metrics is 3; expected an object"),
        ('{"systems": {"A": {"x": {"value": "high"}}}}', "expected a number under value, found 'high'"),
        ('{"systems": {"A": {"x": {"value": true}}}}', "expected a number under value, found 'True'"),
        ("system\tmetric\tvalue\tfoo\nA\tx\t1\t2\n", "no column 'foo' is known"),
        ("system\tmetric\tvalue\trank\nA\tx\t1\tfirst\n", "expected a number under rank, found 'first'"),
    ],
)
def test_what_compare_never_wrote(tmp_path, content, message):
    (tmp_path / "x").write_text(content)
    assert message in run("compare", "figures", str(tmp_path / "x"), code=2).stderr
