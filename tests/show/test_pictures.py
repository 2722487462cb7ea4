"""Pictures for papers, and what a notebook shows."""

import sys

import pytest

import tallystick as ts
from running import invoke
from tallystick.cli.main import tallystick as command
from tallystick.errors import MetricError, TallystickError
from tallystick.results.compare import compare, compare_runs

pytest.importorskip("matplotlib")


def result(*guesses):
    return ts.evaluate(ts.derive(list[str]), [["a", "b"], ["a"], ["c"]], list(guesses))


@pytest.fixture(scope="module")
def comparison():
    first, second = result(["a", "b"], ["a"], ["<c>"]), result(["a"], ["b"], ["c"])
    return compare({"A & <B>": {"m": first, "n": second}, "C": {"m": second, "n": first}}, resamples=50)


def test_a_comparison(comparison, tmp_path):
    svg = comparison.plot()._repr_svg_()
    assert svg.startswith("<svg")
    for text in ("A &amp; &lt;B&gt;", ">C<", ">m<", ">n<", ">rank<"):
        assert text in svg
    for suffix, start in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        file = tmp_path / f"picture{suffix}"
        comparison.plot().save(file)
        assert file.read_bytes().startswith(start)
    before = (tmp_path / "picture.svg").read_bytes()
    comparison.plot().save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_bytes() == before  # the same figures are the same file


def test_the_dots_are_the_figures(comparison):
    figure = comparison.plot("figures").figure
    (part,) = figure.subfigs or [figure]
    for axes, metric in zip(part.axes, comparison.metrics, strict=True):
        drawn = sorted(
            float(line.get_xdata()[0]) for line in axes.lines if len(line.get_xdata()) == 1 and line.get_marker() == "o"
        )
        assert drawn == sorted(comparison.cells[name, metric].value for name in comparison.systems)


def test_the_lines_are_the_ranks(comparison):
    (axes,) = comparison.plot("ranks").figure.subfigs[0].axes if comparison.plot("ranks").figure.subfigs else comparison.plot("ranks").figure.axes  # fmt: skip
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert drawn == {
        name: [comparison.cells[name, metric].rank for metric in comparison.metrics] for name in comparison.systems
    }
    assert axes.yaxis_inverted()


def test_spread_and_one_metric():
    runs = compare_runs({"a": [{"m": 0.5}, {"m": 0.7}], "b": [{"m": 0.4}, {"m": 0.6}]})
    assert "<svg" in runs.plot()._repr_svg_()
    with pytest.raises(MetricError, match="two systems and two metrics"):
        runs.plot("ranks")
    with pytest.raises(MetricError, match="figures and of ranks, not of 'pie'"):
        runs.plot("pie")


def test_a_result():
    one = result(["a"], ["a"], [])
    assert "f1" in one.plot()._repr_svg_()
    assert "documents, from the worst to the best" in one.plot("documents")._repr_svg_()
    with pytest.raises(MetricError, match="figures and of documents"):
        one.plot("pie")
    with pytest.raises(TallystickError, match=r"expected a name that ends with \.svg"):
        one.plot().save("x.gif")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(TallystickError, match=r"pip install \"tallystick\[plots\]\""):
        result(["a"], ["a"], []).plot()


def test_the_command(tmp_path):
    file = tmp_path / "figures.csv"
    file.write_text("system,metric,value\na,m,1\na,n,2\nb,m,2\nb,n,1\n")
    picture = tmp_path / "ranks.svg"
    done = invoke(command, ["compare", "figures", str(file), "--picture", str(picture)])
    assert done.returncode == 0, done.output
    assert picture.read_text().startswith("<?xml")
    done = invoke(command, ["compare", "figures", str(file), "--picture", str(tmp_path / "x" / "y.svg")])
    assert done.returncode == 2
    assert "cannot be written" in done.output


# Notebooks


def test_a_notebook(comparison):
    evil = "<script>alert(1)</script>"
    one = ts.evaluate(ts.derive(list[str]), [[evil]], [["b"]])
    shown = one._repr_html_()
    assert "<details><summary><small>signature</small></summary>" in shown
    assert "0.0000" in shown
    assert len(shown) < 2000
    tree = one.explain()._repr_html_()
    assert evil not in tree
    assert "&lt;script&gt;" in tree
    assert tree.count("<span style") == 2
    table = comparison._repr_html_()
    assert "A &amp; &lt;B&gt;" in table
    assert "resamples=50" in table


def test_names_are_no_formulas():
    odd = compare_runs({r"a$\foo$": [{"m$": 1.0, "n": 2.0}], "b_$x": [{"m$": 2.0, "n": 1.0}]})
    svg = odd.plot()._repr_svg_()
    for name in (r">a$\foo$<", ">b_$x<", ">m$<"):
        assert name in svg


def test_names_of_tied_systems_stand_apart():
    tied = compare_runs({name: [{"m": value, "n": value}] for name, value in zip("ABCD", (2, 1, 2, 2), strict=True)})
    (axes,) = tied.plot("ranks").figure.subfigs[0].axes
    places = {}
    for text in axes.texts:
        places.setdefault(text.get_text(), set()).add(text.xy[1])
    assert places == {"A": {1.0}, "C": {2.0}, "D": {3.0}, "B": {4.0}}
    (axes,) = [axes for axes in tied.plot("figures").figure.subfigs[0].axes if axes.get_title() == "m"]
    assert [label.get_text() for label in axes.get_yticklabels()][::-1] == ["A", "C", "D", "B"]


def test_what_is_drawn_is_said(comparison):
    """The figure, and what the bars are: intervals, or the spread of runs."""
    assert ">F1, micro, 95 % interval<" in comparison.plot("figures")._repr_svg_()
    runs = compare_runs({"a": [{"m": 0.5}, {"m": 0.7}], "b": [{"m": 0.4}, {"m": 0.6}]})
    assert ">standard deviation of runs<" in runs.plot()._repr_svg_()
    one = result(["a", "b"], ["a"], ["c"])
    assert ">95 % interval<" in one.plot()._repr_svg_()
    (axes,) = one.plot("documents").figure.axes
    assert axes.get_ylabel() == "F1"


def test_a_point_at_an_end_is_not_cut():
    (axes,) = result(["a", "b"], ["a"], ["c"]).plot().figure.axes
    low, high = axes.get_xlim()
    assert low < 0
    assert high > 1


def test_a_line_breaks_where_a_figure_is_undefined():
    import math

    values = {"A": (0.9, 0.5, 0.4), "B": (0.8, None, 0.6), "C": (None, 0.2, 0.1)}
    found = compare_runs({name: [dict(zip("mno", row, strict=True))] for name, row in values.items()})
    (axes,) = found.plot("ranks").figure.axes or found.plot("ranks").figure.subfigs[0].axes
    drawn = {line.get_label(): [None if math.isnan(y) else y for y in line.get_ydata()] for line in axes.lines}
    assert drawn == {"A": [1, 1, 2], "B": [2, None, 1], "C": [None, 2, 3]}
    names = {(text.get_text(), text.xy[0] < 1): text.xy[1] for text in axes.texts}
    assert [names[name, True] for name in "ABC"] == [1, 2, 3]
    assert [names[name, False] for name in "BAC"] == [1, 2, 3]


# Values and names that are not as usual


def test_a_kappa_below_0_is_inside_the_axes(tmp_path):
    from tallystick.tasks.spans.files import read_span_files
    from tallystick.tasks.spans.metrics import score

    for name, odd, even in (("g", "B-X", "O"), ("a", "O", "B-X")):
        texts = ["".join(f"{w}{k} {odd if k % 2 else even}\n" for k in range(10)) for w in "vw"]
        (tmp_path / f"{name}.iob").write_text("\n".join(texts))
    found = score(read_span_files(str(tmp_path / "g.iob"), str(tmp_path / "a.iob")), ("ts",))["ts"]
    low, high = found.plot().figure.axes[0].get_xlim()
    assert found.figures["kappa"] < 0
    assert low < found.figures["kappa"]
    assert 1 < high < 1.1
    assert result(["a", "b"], ["a"], ["c"]).plot().figure.axes[0].get_xlim() == pytest.approx((-0.02, 1.02))


def test_signs_that_the_font_does_not_have(tmp_path, recwarn):
    (tmp_path / "t.csv").write_text("system,metric,value\n系统,f1,0.5\nB,f1,0.4\n", encoding="utf-8")

    def picture(suffix):
        arguments = ["compare", "figures", str(tmp_path / "t.csv"), "--picture", str(tmp_path / f"p{suffix}")]
        return invoke(command, arguments).stderr

    said = picture(".png").splitlines()
    assert [line for line in said if "Glyph" in line] == []
    (line,) = [line for line in said if line.startswith("Warning")]
    assert 'the font has no signs for "系", "统", which appear as boxes in the picture' in line
    assert "Warning" not in picture(".svg")  # the reader's own font has them
    assert "系统" in (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert list(recwarn) == []


def test_a_name_that_xml_cannot_hold(tmp_path):
    from xml.dom.minidom import parse

    runs = compare_runs({"a\x01b\udc80": [{"m\x00": 0.5}], "c": [{"m\x00": 0.4}]})
    runs.plot().save(tmp_path / "p.svg")
    texts = [node.firstChild.data for node in parse(str(tmp_path / "p.svg")).getElementsByTagName("text")]
    assert "a�b\\udc80" in texts
    assert "m�" in texts
