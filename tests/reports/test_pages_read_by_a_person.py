"""Pages as somebody reads them who did not write them: what is shown agrees with the terminal, and leads somewhere."""

import json
from dataclasses import dataclass
from pathlib import Path

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
