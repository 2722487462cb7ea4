"""The tables of three papers, recomputed from what they print, in Python and through `compare figures`."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

import tallystick
from running import run
from tallystick.cli.comparison import read_figures
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
            if run_["printed"] not in possible:
                apart.append((task, system, float(round(low, 1)), float(run_["printed"])))
    assert apart == [("CoNLL-2011", "kobdani", 40.8, 38.7)]


def test_averages_through_the_command():
    shown = run(
        "compare", "figures", str(EXAMPLES / "figures.conll-averages.csv"), "--mean", "conll=muc,b3,ceaf_e",
        "--truncate", "--no-correlations", "--format", "markdown",
    ).stdout  # fmt: skip
    cells = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in shown.splitlines() if "№" in line}
    assert cells["lee"][5].startswith("51.5 ")
    assert cells["charton"][5].startswith("41.6 ")  # 41.67, which rounding would make 41.7; printed 41.6
    assert cells["kobdani"][4].startswith("38.7 ")
    assert cells["kobdani"][5].startswith("40.8 ")


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
