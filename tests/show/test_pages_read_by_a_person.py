"""Pages as somebody reads them who did not write them: what is shown agrees with the terminal, and leads somewhere."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import tallystick as ts
from browsing import unfold
from running import invoke
from tallystick.cli.main import tallystick as command
from tallystick.results.report import Page, render


def write(path, text):
    Path(path).write_text(text, encoding="utf-8")
    return str(path)


def lines(path, *values):
    return write(path, "".join(json.dumps(value) + "\n" for value in values))


def tallystick(*arguments):
    done = invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert done.returncode == 0, done.output
    return done


# Figures


def test_document_figures_read_as_on_the_terminal(opened, tmp_path):
    """Thirds, elevenths, and figures exactly half-way between two with four decimals: 5/32 is 0.1562, not 0.1563."""
    counts = [(1, 3), (6, 11), (8, 19), (2, 17), (1, 32), (3, 32), (5, 32), (31, 32), (5, 64)]
    gold = {f"{k} of {n}": [f"x{i}" for i in range(n)] for k, n in counts}
    found = {f"{k} of {n}": [f"x{i}" for i in range(k)] for k, n in counts}
    result = ts.evaluate(ts.derive(list[str]), gold, found)
    write(tmp_path / "r.html", render(Page("t", {"lists": result})))
    page = opened(tmp_path / "r.html")
    names = list(result.figures)
    for row in page.locator("#list summary").all():
        name, *shown = row.locator("span").all_inner_texts()
        assert shown == [f"{result.documents[name][figure]:.4f}" for figure in names], name
    # the same sign by sign, and below nothing
    both = {x: f"{x:.4f}" for x in (-5 / 32, -0.5, 0.0, 1.0, 2 / 3, 1e-5)}
    assert page.evaluate("xs => xs.map(x => fig(x))", list(both)) == list(both.values())


# Documents


def opened_rows(page, name=None):
    """The rows of the alignment of a document, opened: [what, reference, prediction, credit]."""
    if name is not None:
        page.fill("#filter", name)
    unfold(page)
    rows = page.locator("#list table.pair tbody tr")
    rows.first.wait_for()
    return [[cell.inner_text() for cell in row.locator("th, td").all()] for row in rows.all()]


def test_an_answer_that_cannot_be_read_is_shown(opened, tmp_path):
    """The reason, the output itself, cut where it is long, and the reference field by field, without the id."""
    gold = [{"id": k, "vendor": "Acme", "lines": [{"sku": "H-100", "price": 2}]} for k in "abc"]
    long = "<b>No</b> invoice. " * 40
    answers = [
        {"id": "a", "output": json.dumps(gold[0])},
        {"id": "b", "output": "I'm sorry, the scan\nis not legible."},
        {"id": "c", "output": long},
    ]
    files = lines(tmp_path / "gold.jsonl", *gold), lines(tmp_path / "answers.jsonl", *answers)
    tallystick("score", "records", *files, "--from", "output", "--lenient", "--report", tmp_path / "r.html")
    page = opened(tmp_path / "r.html")
    first, *fields = opened_rows(page, "b")
    assert first[2] == "the prediction is invalid: holds no JSON object or list\nI'm sorry, the scan\nis not legible."
    assert [row[:2] for row in fields if row[1]] == [["vendor", "−Acme"], ["sku", "−H-100"], ["price", "−2"]]
    first, *_ = opened_rows(page, "c")
    assert f"{long[:500]} … (the first 500 of {len(long.strip())} characters)" in first[2]


def test_what_was_missed_shows_only_what_is_compared(opened, tmp_path):
    """Not the records that events are turned into on the way; and the trigger, with its text where the file has one."""

    def event(role, start):
        return {"trigger": [4, 5, "Attack", "attacked"], "arguments": [[start, start + 1, role, "Rebels"]]}

    gold = lines(tmp_path / "gold.jsonl", {"doc_id": "d", "wnd_id": "d", "events": [event("Attacker", 0)]})
    system = lines(tmp_path / "system.jsonl", {"doc_id": "d", "wnd_id": "d", "events": [event("Target", 2)]})
    tallystick("score", "events", gold, system, "--report", tmp_path / "r.html")
    rows = opened_rows(opened(tmp_path / "r.html"))
    missed = [row[:2] for row in rows if row[3] == "missed"]
    assert missed == [
        ["Attacker", ""], ["trigger", "−attacked [4]"], ["type", "−Attack"], ["mention", "−Rebels [0]"],
    ]  # fmt: skip


def test_a_part_alone_inside_another_keeps_both_names(opened, tmp_path):
    """The stage and the role of an argument, where its event has no other."""
    examples = Path(ts.__file__).parent / "examples"
    sides = [examples / f"arguments.{side}.jsonl" for side in ("gold", "system")]
    tallystick("score", "arguments", *sides, "--report", tmp_path / "r.html")
    rows = opened_rows(opened(tmp_path / "r.html"), "2a")
    assert rows[0][:3] == [
        "contact.negotiate 'negotiating' · participant · harmless tokens",
        "Obama administration",
        "the Obama administration",
    ]


def test_the_label_of_an_item_is_its_name_alone():
    """A slot's filler is no `Victim · value · mentions`; a field with one field inside says both names."""
    from tallystick.results.documents import pack_tree

    @dataclass
    class Person:
        name: str

    @dataclass
    class Deed:
        role: str
        who: Person

    @dataclass
    class Report:
        author: Person
        deeds: list[Deed]

    value = Report(Person("Ann"), [Deed("witness", Person("Bob")), Deed("judge", Person("Cy"))])
    tree = pack_tree(ts.evaluate(ts.derive(Report, credit="each"), {"a": value}, {"a": value}).explain("a"), [100])
    assert [child[0] for child in tree[7]] == ["author · name", "deeds"]
    assert [child[0] for child in tree[7][1][7]] == ["witness", "judge"]


def test_a_document_that_is_not_carried_names_a_way_that_there_is(opened, tmp_path):
    """`explain` where the task has it; dependencies have none."""
    gold = "1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    trees = [write(tmp_path / f"{n}.conllu", gold.replace("VERB", n)) for n in ("VERB", "NOUN")]
    records = [lines(tmp_path / f"{side}.jsonl", {"id": "a", "n": k}) for k, side in enumerate(("gold", "system"))]
    for task, files, way in (
        ("dependencies", trees, "A report with more documents shows it (--report-documents)."),
        ("records", records, "tallystick explain records shows it, or a report with more documents"),
    ):
        tallystick("score", task, *files, "--report", tmp_path / "r.html", "--report-documents", 0)
        page = opened(tmp_path / "r.html")
        unfold(page)
        note = page.locator("#list .body .note").first.inner_text()
        assert way in note
        assert ("explain" in note) == (task == "records")


def test_variables_are_a_mapping_and_earn_nothing(opened, tmp_path):
    """A variable mapped to one of another concept is marked and not hidden; credits are those of the triples."""
    graph = "# ::id a\n(w / {} :ARG0 (b / boy))\n"
    files = [write(tmp_path / f"{word}.amr", graph.format(word)) for word in ("want-01", "need-01")]
    tallystick("score", "amr", *files, "--report", tmp_path / "r.html")
    page = opened(tmp_path / "r.html")
    rows = opened_rows(page)
    assert rows[0][3] == "3 of 4"  # the root, the boy and the role
    assert [row for row in rows if row[0] in ("mapping", "triples")] == [
        ["mapping", "", "", ""],
        ["triples", "", "", "3 of 4"],
    ]
    assert ["", "≠w / want-01", "≠w / need-01", ""] in rows
    assert sum(row[3] == "1" for row in rows) == 3
    page.check("#hide")
    left = page.locator("#list table.pair tbody tr:visible").all_inner_texts()
    assert any("want-01" in row and "need-01" in row for row in left)
    assert not any("boy" in row for row in left)


# Tables


@pytest.mark.parametrize("task", ["spans", "coreference", "relations"])
def test_what_is_printed_too_stands_once_in_the_report(tmp_path, task):
    """Also under another title, with fewer rows, or with words of the text."""
    if task == "spans":
        gold = "".join(f"w{k}\tB-PER\n\n" for k in range(60))
        files = write(tmp_path / "gold.iob", gold), write(tmp_path / "system.iob", gold.replace("PER", "ORG"))
        asked = ["--by", "label", "--errors"]
    elif task == "coreference":
        text = "#begin document (d); part 000\n{}#end document\n"
        mentions = ["(0)", "-", "(0)", "(1)"]
        files = [
            write(tmp_path / f"{side}.conll", text.format("".join(f"d 0 {k} w{k} {m}\n" for k, m in enumerate(found))))
            for side, found in (("gold", mentions), ("system", ["-", *mentions[1:]]))
        ]
        asked = ["--errors"]
    else:
        relation = {
            "type": "in",
            "head": {"start": 0, "end": 1, "type": "A"},
            "tail": {"start": 2, "end": 3, "type": "B"},
        }
        files = [
            lines(tmp_path / f"{side}.jsonl", {"id": "d", "relations": found})
            for side, found in (("gold", [relation]), ("system", []))
        ]
        asked = ["--by", "label"]
    plain, both = tmp_path / "plain.html", tmp_path / "both.html"
    tallystick("score", task, *files, "--report", plain)
    tallystick("score", task, *files, *asked, "--report", both)
    assert [title for title in titles(both) if title in titles(plain)] == titles(plain)
    assert len(set(titles(both))) == len(titles(both))
    assert any(titles(plain))
    if task != "relations":  # of which the other metrics are asked for, too
        assert titles(both) == titles(plain)
    if task == "spans":  # a longer list is asked for, and had
        tallystick("score", task, *files, "--errors", "--rows", 60, "--report", both)
        assert titles(plain)[-1] == "Where they are, 50 of 60"
        assert titles(both) == [*titles(plain)[:-1], "Where they are"]


def titles(path):
    return re.findall(r"<h3>(.*?)</h3>", path.read_text(encoding="utf-8"))


def test_places_of_errors_and_repairs_are_short(opened, tmp_path):
    """So that all columns are in view; both files of one name keep their paths."""
    deep = tmp_path / "a-directory-with-a-long-name" / "and-another-one-inside-of-it"
    deep.mkdir(parents=True)
    words = " ".join(f"word{k}" for k in range(14)).split()
    gold = "".join(f"{word}\t{'I' if k else 'B'}-work\n" for k, word in enumerate(words)) + "\n"
    files = write(deep / "gold.iob", gold), write(deep / "system.iob", gold.replace("work", "play"))
    tallystick("score", "spans", *files, "--report", tmp_path / "r.html")
    page = opened(tmp_path / "r.html")
    table = page.locator("#errors table").last
    assert table.locator("tbody td").first.inner_text() == "1, line 1, tokens 0–13"
    assert table.evaluate("t => t.scrollWidth <= t.parentNode.clientWidth")
    (deep / "other").mkdir()
    same = write(deep / "other" / "gold.iob", gold.replace("B-work", "I-work"))
    tallystick("score", "spans", files[0], same, "--repairs", "--report", tmp_path / "r.html")
    assert f"{deep}/other/gold.iob:1" in page.goto((tmp_path / "r.html").as_uri()).text()


def test_meanings_of_errors_stand_alone():
    """Kinds that do not occur are left out, so none may point at its neighbours."""
    from tallystick.tasks.templates.task import Templates

    assert len(set(Templates.kinds.values())) == len(Templates.kinds)
    assert not [text for text in Templates.kinds.values() if re.search(r"\b(above|below|such|the same,)", text)]


# What fits, and what stays in step

BROKEN = """node => {
    const out = [], range = document.createRange(), walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) for (const word of walk.currentNode.data.matchAll(/[^\\s_]+/g)) {
        range.setStart(walk.currentNode, word.index);
        range.setEnd(walk.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) out.push(word[0]);
    }
    return out;
}"""


def test_no_word_of_a_head_is_broken(opened, tmp_path):
    """As many columns as there is room for, each as wide as its longest word."""
    graphs = write(tmp_path / "a.amr", "# ::id a\n(w / want-01 :ARG0 (b / boy))\n")
    tallystick("score", "amr", graphs, graphs, "--subscores", "--report", tmp_path / "r.html")
    page = opened(tmp_path / "r.html")
    page.set_viewport_size({"width": 1400, "height": 900})
    head = page.locator(".docs .head")
    assert "reentrancies" in head.inner_text()
    assert head.evaluate(BROKEN) == []
    assert head.evaluate("head => head.scrollWidth <= head.clientWidth")
    for width in (1000, 700):  # on less room they may be, but never lie over each other or beyond the edge
        page.set_viewport_size({"width": width, "height": 900})
        assert head.evaluate(
            """head => [...head.querySelectorAll('button')].map(b => b.getBoundingClientRect()).every(
                (box, k, all) => box.right <= head.getBoundingClientRect().right + 1 && (!k || box.left >= all[k - 1].right - 1))"""
        )


@pytest.mark.parametrize("width", [1400, 700])
def test_credits_fit_their_column(opened, tmp_path, width):
    first = {"id": "a", "lines": [{"sku": k, "text": f"a b c d e f g {k}"} for k in range(60)]}
    second = {"id": "a", "lines": [{"sku": k, "text": f"a b c d e f h {k}"} for k in range(59)]}
    files = lines(tmp_path / "gold.jsonl", first), lines(tmp_path / "system.jsonl", second)
    choices = write(tmp_path / "choices.yaml", "lines[*].text: {text: levenshtein}\n")
    tallystick("score", "records", *files, "--choices", choices, "--report", tmp_path / "r.html")
    page = opened(tmp_path / "r.html")
    page.set_viewport_size({"width": width, "height": 900})
    rows = opened_rows(page)
    assert max(len(row[3]) for row in rows) >= len("114.6 of 120 / 118")
    assert page.locator("#list .scroll").evaluate("box => box.scrollWidth <= box.clientWidth")
    assert page.locator("#list td.credit").evaluate_all("all => all.every(c => c.scrollWidth <= c.clientWidth)")
    said = f"{rows[0][3]}: what was earned, of all that the reference has / of all that was predicted."
    assert said in page.locator("#list").inner_text()


def test_texts_stay_in_step_where_what_is_right_is_hidden(opened, tmp_path):
    """A sentence that is right on one side only is shown on both."""
    texts = [
        "#begin document (d); part 000\n"
        + "\n".join(f"d 0 {k} w{k} {mention}\n" for k, mention in enumerate(found))
        + "#end document\n"
        for found in (["(0)", "(1)", "(0)", "-"], ["(0)", "(1)", "(0)", "(2)"])
    ]
    files = write(tmp_path / "gold.conll", texts[0]), write(tmp_path / "system.conll", texts[1])
    tallystick("score", "coreference", *files, "--report", tmp_path / "r.html")
    page = opened(tmp_path / "r.html")
    opened_rows(page)
    sides = page.locator("#list .text")
    assert [sides.nth(k).locator("p:visible").count() for k in (0, 1)] == [4, 4]
    page.check("#hide")
    shown = [[p[:2] for p in sides.nth(k).locator("p:visible").all_inner_texts()] for k in (0, 1)]
    assert shown == [["w3"], ["w3"]]


def test_what_the_documents_are_ordered_by_is_said(opened, tmp_path):
    gold = [{"id": k, "a": 1, "b": [2, 3]} for k in "xyz"]
    files = (
        lines(tmp_path / "gold.jsonl", *gold),
        lines(tmp_path / "system.jsonl", *({**one, "b": [2]} for one in gold)),
    )
    tallystick("score", "records", *files, "--report", tmp_path / "r.html", "--report-documents", 2)
    page = opened(tmp_path / "r.html")
    said = page.locator("#documents .lead")
    assert said.inner_text().startswith("Ordered by records. The 2 worst of 3 by records open")
    page.get_by_role("button", name="recall", exact=True).last.click()
    assert said.inner_text().startswith("Ordered by records recall. The 2 worst of 3 by records open")


def test_documents_without_a_figure_are_counted(opened, tmp_path):
    """The scatter leaves them out, and says how many there are."""
    gold = {"a": ["x"], "b": ["x", "y"], "c": [], "d": []}
    result = ts.evaluate(ts.derive(list[str]), gold, {**gold, "a": ["y"], "d": ["x"]})
    write(tmp_path / "r.html", render(Page("t", {"lists": result})))
    said = opened(tmp_path / "r.html").locator("#rho").inner_text()
    assert said.startswith("2 documents (2 more have no figure under one of the two); Spearman")


def test_a_document_named_by_its_file_has_no_path(tmp_path):
    words = "1\ta\ta\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    files = write(tmp_path / "gold.conllu", words), write(tmp_path / "system.conllu", words)
    shown = tallystick("score", "dependencies", *files, "--by", "document", "--metric", "las").stdout
    assert "\ngold.conllu:1\t" in shown


# Comparisons


def figures_page(opened, tmp_path, rows):
    """The page of a table of figures: system, and its value under each metric."""
    text = "\n".join(
        ["system,metric,value", *(f"{name},m{k},{value}" for name, *values in rows for k, value in enumerate(values))]
    )
    file = write(tmp_path / "figures.csv", text + "\n")
    tallystick("compare", "figures", file, "--report", tmp_path / "r.html")
    return opened(tmp_path / "r.html")


def test_long_names_stay_different(opened, tmp_path):
    """Also where they differ in the middle only."""
    names = [f"muc.{'long-' * 6}iterx-{kind}-base.{'and-more-' * 5}jsonl" for kind in ("bart", "bert")]
    page = figures_page(opened, tmp_path, [(names[0], 2, 1, 2, 1), (names[1], 1, 2, 1, 2)])
    shown = page.locator(".ranks .series text").all_text_contents()
    assert len(set(shown)) == 2
    short = figures_page(opened, tmp_path, [("muc.iterx-bart-base.jsonl", 2, 1), ("muc.iterx-bert-base.jsonl", 1, 2)])
    assert set(short.locator(".ranks .series text").all_text_contents()) == {
        "muc.iterx-bart-base.jsonl",
        "muc.iterx-bert-base.jsonl",
    }
    inside = """svg => [...svg.querySelectorAll('text')].every(t => t.getBBox().x >= 0
        && t.getBBox().x + t.getBBox().width <= svg.viewBox.baseVal.width)"""
    assert short.locator(".ranks svg").evaluate(inside)


def test_an_undefined_figure_has_no_place_in_the_drawing(opened, tmp_path):
    """No dot, no rank, and a line that is broken; its name comes last."""
    from tallystick.results.compare import compare_runs

    values = {"A": (0.9, 0.5, 0.4), "B": (0.8, None, 0.6), "C": (None, 0.2, 0.1)}
    found = compare_runs({name: [dict(zip("mno", row, strict=True))] for name, row in values.items()})
    found.write_report(tmp_path / "r.html")
    page = opened(tmp_path / "r.html")
    series = page.locator(".ranks .series")
    assert [series.nth(k).locator("circle").count() for k in range(3)] == [3, 2, 2]
    assert [series.nth(k).locator("path").get_attribute("d").count("C") for k in range(3)] == [2, 0, 1]
    assert "n undefined" in series.nth(1).locator("title").text_content()
    places = {series.nth(k).locator("text").first.text_content(): k for k in range(3)}
    heights = {name: float(series.nth(k).locator("text").first.get_attribute("y")) for name, k in places.items()}
    assert heights["C"] == max(heights.values())
    cell = page.locator(".comparison tbody tr").nth(1).locator("td").nth(1)
    assert cell.inner_text().strip() == "–"
    assert cell.locator(".iv").count() == 0


def test_a_page_of_figures_alone_has_no_empty_section(opened, tmp_path):
    page = figures_page(opened, tmp_path, [("a", 1, 3), ("b", 2, 2), ("c", 3, 1)])
    assert page.locator("#signature").count() == 0
    assert "Signature" not in page.locator("nav").inner_text()
    # metrics that contradict each other do not look like metrics that have nothing to do with each other
    cell = page.locator(".agree tbody tr").first.locator("td").nth(1)
    assert cell.inner_text() == "-1.0000"
    colour = "cell => getComputedStyle(cell).backgroundColor"
    assert cell.evaluate(colour) != page.locator(".agree").evaluate(colour)
    assert cell.evaluate(colour) != page.locator(".agree tbody td").first.evaluate(colour)


def test_a_comparison_of_many_systems(opened, tmp_path):
    """Letters head the matrix of pairs, which so fits; tracks have ends; cautions stand above the table."""
    gold = "".join(f"w{k}\tB-PER\n\n" for k in range(8))
    files = [
        write(tmp_path / f"a-system-with-quite-a-long-name-{k}.iob", gold.replace("B-PER", "O", k % 7))
        for k in range(10)
    ]
    tallystick("compare", "spans", write(tmp_path / "gold.iob", gold), *files, "--resamples", 100, "--metric", "segment", "--metric", "token", "--report", tmp_path / "r.html")  # fmt: skip
    page = opened(tmp_path / "r.html")
    page.set_viewport_size({"width": 1400, "height": 900})
    pairs = page.locator(".pairs")
    assert pairs.locator("thead th").all_inner_texts()[1:] == list("abcdefghij")
    assert pairs.locator("thead th").nth(1).get_attribute("title") == "a-system-with-quite-a-long-name-0.iob"
    assert pairs.locator("tbody th").first.inner_text() == "a a-system-with-quite-a-long-name-0.iob"
    assert pairs.evaluate("t => t.scrollWidth <= t.parentNode.clientWidth")
    ends = page.locator(".comparison thead .ends").first.locator("span").all_inner_texts()
    values = [float(row) for row in page.locator(".comparison td.cell:nth-child(2) .v").all_inner_texts()]
    assert float(ends[0]) <= min(values) <= max(values) <= float(ends[1])
    warnings, table = page.locator(".warn"), page.locator(".comparison table")
    assert warnings.count() >= 1
    assert warnings.last.bounding_box()["y"] < table.bounding_box()["y"]
    # and what the figures are
    assert "F1, micro (segment); F1, macro (token)" in page.locator(".comparison .lead").inner_text()


def test_all_metrics_say_their_average(opened, tmp_path):
    gold = write(tmp_path / "gold.iob", "a\tB-PER\n\nb\tB-ORG\n\n")
    tallystick(
        "score", "spans", gold, gold, "--metric", "segment", "--metric", "token", "--report", tmp_path / "r.html"
    )
    rows = opened(tmp_path / "r.html").locator("#figures tbody tr")
    assert [row.split("\t")[:2] for row in rows.all_inner_texts()] == [["segment", "micro"], ["token", "macro"]]
