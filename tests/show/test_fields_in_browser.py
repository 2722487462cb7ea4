"""The report of records: a chosen field with its errors and documents, badges, folded warnings, curves of confidence."""

import json

import pytest

from browsing import unfold
from running import run

LINES = 60


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder, gold, answers = tmp_path_factory.mktemp("report"), [], []
    for k in range(LINES):
        one = {"id": f"inv-{k:02d}", "vendor": "Acme", "total": 100 + k + 0.25, "note": "<b>x</b>"}
        said = {name: {"value": value, "confidence": 0.9} for name, value in one.items() if name != "id"}
        if k % 4 == 0:
            said["vendor"] = {"value": "ACME", "confidence": 0.6}
        if k % 10 == 0:
            said["total"] = {"value": 100 + k, "confidence": 0.3}
        text = json.dumps({"id": one["id"], **said})
        text = f"```json\n{text}\n```" if k in (1, 2, 3) else "no idea" if k == 5 else text
        gold.append(one)
        answers.append({"id": one["id"], "output": text})
    for name, side in (("g.jsonl", gold), ("p.jsonl", answers)):
        (folder / name).write_text("".join(json.dumps(one) + "\n" for one in side))
    options = ("--from", "output", "--lenient", "--confidence", "confidence", "--report", "r.html", "--format", "json")
    run("score", "records", "g.jsonl", "p.jsonl", *options, cwd=folder)
    return folder / "r.html"


def test_a_field_shows_its_errors_and_its_documents(opened, report):
    page = opened(report)
    page.locator("#breakdown").get_by_role("button", name="vendor").click()
    panel = page.locator(".chosen")
    assert panel.locator("h4").first.inner_text() == "vendor"
    assert "16 values wrong, missing or extra in 16 documents." in panel.inner_text()
    assert "case" in panel.locator("tbody th").first.inner_text()
    assert "'Acme' → 'ACME'" in panel.inner_text()
    # another field takes its place, and what the data says is never markup
    page.locator("#breakdown").get_by_role("button", name="note").click()
    assert panel.locator("h4").first.inner_text() == "note"
    assert "'<b>x</b>' → nothing" in panel.inner_text()
    assert panel.locator("b").count() == 0
    # the documents in which it is wrong, and only these
    page.locator("#breakdown").get_by_role("button", name="total").click()
    panel.get_by_role("button", name="List them below").click()
    listed = page.locator("#list .id").all_inner_texts()
    assert sorted(one.split()[0] for one in listed) == ["inv-00", "inv-05", *(f"inv-{k}" for k in range(10, 60, 10))]
    assert page.locator("#found").inner_text() == "7 of 60 documents"
    # a document of the panel opens; the filter gives way if it hides it
    page.select_option("#wrong", "vendor")
    panel.locator(".documents-of").get_by_role("button", name="inv-10").click()
    assert page.locator("#list details[open] .id").inner_text().startswith("inv-10")
    panel.get_by_role("button", name="Close").click()
    assert page.locator(".chosen").count() == 0


def test_badges_and_their_filters(opened, report):
    page = opened(report)
    assert page.locator("#list .badge.invalid").count() == 1
    page.check("input.badged[value=repaired]")
    assert sorted(page.locator("#list .id").all_inner_texts()) == [f"inv-0{k} repaired" for k in (1, 2, 3)]
    assert "code fence" in page.locator("#list .badge").first.get_attribute("title")
    page.check("input.badged[value=invalid]")
    assert page.locator("#found").inner_text() == "4 of 60 documents"
    page.uncheck("input.badged[value=repaired]")
    assert page.locator("#list .id").all_inner_texts() == ["inv-05 invalid"]


def test_a_warning_is_one_line_until_it_is_opened(opened, report):
    page = opened(report)
    page.set_viewport_size({"width": 420, "height": 900})
    warning = page.locator("details.warn").filter(has_text="scoring nothing")
    closed = warning.bounding_box()["height"]
    assert closed < 50
    warning.locator("summary").click()
    assert warning.bounding_box()["height"] > closed
    assert "holds no JSON object" in warning.inner_text()


def test_an_open_document_has_its_full_height(opened, report):
    page = opened(report)
    unfold(page.locator("#list"), 1)
    inner = page.evaluate(
        """() => [...document.querySelectorAll('#list details[open] *')].filter(
            e => e.scrollHeight > e.clientHeight + 1 && ['auto', 'scroll'].includes(getComputedStyle(e).overflowY)).length"""
    )
    assert inner == 0


def test_curves_of_confidence(opened, report):
    page = opened(report)
    assert page.locator("#reliability .dot").count() == 3
    assert page.locator("#review .ring").count() == 1
    assert "of the documents" in page.locator("#accepted").inner_text()
    page.select_option("#sure", "vendor")
    assert page.locator("#reliability .dot").count() == 2
    said = page.locator("#accepted").inner_text()
    assert "Accept above 0.9: 74.6 % of the values, of which 100.0 % are right" in said
    assert page.locator("#confidence table").count() == 2


@pytest.mark.parametrize("width", [1200, 420])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_and_all_text_is_seen(browser, report, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(report.as_uri())
    page.locator("#breakdown").get_by_role("button", name="vendor").click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()
