"""Pages as somebody reads them who did not write them: what is shown agrees with the terminal, and leads somewhere."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

import tallystick as ts
from tallystick.cli.commands import tallystick as command
from tallystick.reports.page import Page, render


def write(path, text):
    Path(path).write_text(text, encoding="utf-8")
    return str(path)


def lines(path, *values):
    return write(path, "".join(json.dumps(value) + "\n" for value in values))


def tallystick(*arguments):
    done = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
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
    page.locator("#list summary").first.click()
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
    from tallystick.reports.aligned import packed

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
    tree = packed(ts.evaluate(ts.derive(Report, credit="each"), {"a": value}, {"a": value}).explain("a"), [100])
    assert [child[0] for child in tree[7]] == ["author · name", "deeds"]
    assert [child[0] for child in tree[7][1][7]] == ["witness", "judge"]


def test_a_document_that_is_not_carried_names_a_way_that_there_is(opened, tmp_path):
    """`explain` where the task has it; spans have none."""
    gold = "".join(f"w{k}\tB-PER\n\n" for k in range(3))
    spans = write(tmp_path / "gold.iob", gold), write(tmp_path / "system.iob", gold.replace("B-PER", "O", 2))
    records = [lines(tmp_path / f"{side}.jsonl", {"id": "a", "n": k}) for k, side in enumerate(("gold", "system"))]
    for task, files, way in (
        ("spans", spans, "A report with more documents shows it (--report-documents)."),
        ("records", records, "tallystick explain records shows it, or a report with more documents"),
    ):
        tallystick("score", task, *files, "--report", tmp_path / "r.html", "--report-documents", 0)
        page = opened(tmp_path / "r.html")
        page.locator("#list summary").first.click()
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
    assert titles(both) == titles(plain)
    assert any(titles(plain))
    if task == "spans":  # a longer list is asked for, and had
        tallystick("score", task, *files, "--errors", "--rows", 60, "--report", both)
        assert titles(both) == [*titles(plain)[:-1], "Errors"]


def titles(path):
    return re.findall(r"<h3>(.*?)</h3>", path.read_text(encoding="utf-8"))


def test_places_of_errors_name_the_file_only(opened, tmp_path):
    """So that all columns are in view; both files of one name keep their paths."""
    deep = tmp_path / "a-directory-with-a-long-name" / "and-another-one-inside-of-it"
    deep.mkdir(parents=True)
    words = " ".join(f"word{k}" for k in range(14)).split()
    gold = "".join(f"{word}\t{'I' if k else 'B'}-work\n" for k, word in enumerate(words)) + "\n"
    files = write(deep / "gold.iob", gold), write(deep / "system.iob", gold.replace("work", "play"))
    tallystick("score", "spans", *files, "--report", tmp_path / "r.html")
    page = opened(tmp_path / "r.html")
    table = page.locator("#errors table").last
    assert table.locator("tbody td").first.inner_text() == "gold.iob:1-14"
    assert table.evaluate("t => t.scrollWidth <= t.parentNode.clientWidth")
    (deep / "other").mkdir()
    same = write(deep / "other" / "gold.iob", gold.replace("work", "play"))
    tallystick("score", "spans", files[0], same, "--report", tmp_path / "r.html")
    assert f"{deep}/gold.iob:1-14" in page.goto((tmp_path / "r.html").as_uri()).text()


def test_meanings_of_errors_stand_alone():
    """They are sorted by gain, so none may point at its neighbours."""
    from tallystick.metrics.template_errors import KINDS

    assert len(set(KINDS.values())) == len(KINDS)
    assert not [text for text in KINDS.values() if re.search(r"\b(above|below|such|the same,)", text)]
