"""Reports opened in a real browser: nothing goes wrong, nothing is asked for, and everything can be done by keyboard."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from browsing import unfold
from running import invoke
from tallystick.cli.main import tallystick as command

EVIL = "<script>document.title='hacked'</script>"
CLOSING = "</script><img src=x onerror=alert(1)>"


def write(path, text):
    Path(path).write_text(text, encoding="utf-8")
    return str(path)


def tallystick(*arguments):
    done = invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert done.returncode == 0, done.output


def conll(name, chains, words):
    """A CoNLL document; chains are lists of (first, last)."""
    lines = [f"#begin document ({name}); part 000"]
    for k, word in enumerate(words):
        opens = [f"({c}" for c, chain in enumerate(chains) for a, b in chain if a == k != b]
        whole = [f"({c})" for c, chain in enumerate(chains) for a, b in chain if a == k == b]
        closes = [f"{c})" for c, chain in enumerate(chains) for a, b in chain if b == k != a]
        lines.append(f"{name} 0 {k} {word} {'|'.join(opens + whole + closes) or '-'}")
    return "\n".join([*lines, "", "#end document", ""])


@pytest.fixture
def coreference(tmp_path):
    words = ["Ann", "<b>saw</b>", EVIL.replace(" ", ""), "and", "her", "dog", "."]
    key = conll("first", [[(0, 0), (4, 4)], [(2, 2)], [(4, 5)]], words)
    key += conll("second", [[(0, 1), (4, 4)], [(2, 5)]], words)
    response = conll("first", [[(0, 0), (4, 4)], [(5, 5)]], words)
    response += conll("second", [[(0, 1), (4, 4)], [(2, 5)]], words)
    report = tmp_path / "report.html"
    files = write(tmp_path / "key.conll", key), write(tmp_path / "response.conll", response)
    tallystick("score", "coreference", *files, "--report", report)
    return report


def test_coreference(opened, coreference):
    page = opened(coreference)
    assert page.title() == "response.conll against key.conll · tallystick"
    assert page.locator("#figures .value").inner_text().startswith("0.")

    # a table sorts, numbers the largest first, and says so
    table = page.locator("#figures table")
    table.get_by_role("button", name="recall").click()
    head = table.locator("thead th").nth(2)
    assert head.get_attribute("aria-sort") == "descending"

    def column():
        cells = table.locator("tbody tr td:nth-child(3)")
        return [float(x) for x in cells.all_inner_texts() if x != "–"]

    assert column() == sorted(column(), reverse=True)
    table.get_by_role("button", name="recall").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column() == sorted(column())

    # what went wrong has what it costs
    errors = page.locator("#errors table").first
    assert "(all of these)" in errors.inner_text()
    assert "conll" in errors.locator("thead").inner_text()
    missing = errors.locator("tr", has_text="missing entity").locator("td").nth(0)
    assert missing.inner_text() == "1"

    # documents, worst first; a filter filters and says how many are left
    names = page.locator("#list .id").all_inner_texts()
    assert names == ["(first); part 000", "(second); part 000"]
    page.fill("#filter", "second")
    assert page.locator("#list .id").all_inner_texts() == ["(second); part 000"]
    assert page.locator("#found").inner_text() == "1 of 2 documents"
    page.fill("#filter", "")
    page.fill("#most", "0.99")
    assert page.locator("#list .id").all_inner_texts() == ["(first); part 000"]
    page.fill("#most", "")

    # a document opens: the text twice, chains in colours, what was matched below
    unfold(page)
    sides = page.locator("#list .side")
    assert sides.count() == 2
    assert sides.first.locator(".m.g").count() == 4
    assert sides.first.locator(".m.missed").count() == 2
    assert sides.nth(1).locator(".m.spurious").count() == 1
    assert "<b>saw</b>" in sides.first.inner_text()
    hue = "m => m.style.getPropertyValue('--h')"
    assert sides.first.locator(".m").first.evaluate(hue) == sides.nth(1).locator(".m").first.evaluate(hue)
    assert page.title().endswith("tallystick")  # no script of the text has run
    assert "document.title" in sides.first.inner_text()

    # what is right can be hidden
    rows = page.locator("#list table.pair tbody tr:visible")
    before = rows.count()
    page.check("#hide")
    assert rows.count() < before


def test_keyboard_alone(opened, coreference):
    page = opened(coreference)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#list summary")
    page.keyboard.press("ArrowDown")
    assert "second" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.locator("#list details").first.evaluate("d => d.open")
    page.locator("#figures th button").nth(1).focus()
    page.keyboard.press("Space")
    assert page.locator("#figures th[aria-sort]").count() == 1
    # every control has a name
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input')].filter(
            e => !(e.innerText.trim() || e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML)"""
    )
    assert nameless == []
    # headings go down one step at a time, and there is one first heading
    levels = page.locator("h1, h2, h3, h4").evaluate_all("hs => hs.map(h => Number(h.tagName[1]))")
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels) if b < 4)


def test_metric_against_metric(opened, coreference):
    page = opened(coreference)
    dots = page.locator("#plot .dot")
    assert dots.count() == 2
    page.select_option("#across", label="b3 f1")
    page.select_option("#up", label="ceaf_e f1")
    assert "1.0000" in page.locator("#rho").inner_text()
    assert page.locator("#apart th").all_inner_texts()[1:] == ["rank by b3", "rank by ceaf_e"]
    assert page.evaluate("(t => t.scrollWidth <= t.parentNode.clientWidth)(document.getElementById('apart'))")
    dots.nth(0).click()
    assert page.locator("#list details[open]").count() == 1
    assert "first" in page.locator("#list details[open] .id").inner_text()


def test_events(opened, tmp_path):
    tokens = ["Rebels", "attacked", EVIL, "in", "Paris", "."]

    def event(role, type_="Attack"):
        place = {"mention": {"start": 4, "end": 5}, "role": role}
        return {"type": type_, "trigger": {"start": 1, "end": 2}, "arguments": [place]}

    def document(*events):
        return {"id": f"d{CLOSING}", "tokens": tokens, "events": list(events)}

    gold = write(tmp_path / "gold.jsonl", json.dumps(document(event("Place"))) + "\n")
    system = write(tmp_path / "system.jsonl", json.dumps(document(event("Target"))) + "\n")
    tallystick("score", "events", gold, system, "--report", tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    assert page.locator("#list .id").inner_text() == f"d{CLOSING}"
    assert page.locator("#breakdown h3").count() >= 2  # by role and by type
    unfold(page)
    left, right = page.locator("#list .side").all()
    assert left.locator(".m.plain-right").inner_text() == "attackedAttack"
    assert left.locator(".m.plain-part").inner_text() == "Paris≠Place"
    assert right.locator(".m.plain-part").inner_text() == "Paris≠Target"
    assert EVIL in left.inner_text()


def test_templates(opened, tmp_path):
    def templates(*victims):
        slots = {"Victim": list(victims), "Weapon": ["bomb"]}
        return json.dumps({"id": "m1", "templates": [{"type": "attack", "slots": slots}]}) + "\n"

    gold = write(tmp_path / "gold.jsonl", templates("two men", EVIL))
    system = write(tmp_path / "system.jsonl", templates("two men", "a woman"))
    tallystick("score", "templates", gold, system, "--report", tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    errors = page.locator("#errors table").first
    assert "(all of these)" in errors.inner_text()
    unfold(page)
    rows = page.locator("#list table.pair tbody tr")
    rows.first.wait_for()
    found = {row.get_attribute("class"): row.inner_text().split("\t") for row in rows.all()}
    assert found["missed"][:2] == ["Victim", f"−{EVIL}"]
    assert found["spurious"][0] == "Victim"
    assert found["spurious"][2] == "+a woman"
    assert "Weapon" in page.locator("#list table.pair").inner_text()
    errors.get_by_role("button", name="count").click()
    counts = [int(x) for x in errors.locator("tbody td:nth-child(2)").all_inner_texts() if x != "–"]
    assert counts == sorted(counts, reverse=True)


AMR = """# ::id {id}
# ::snt The boy wants to go {evil}
(w / {want} :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b{more}))
"""


def test_amr(opened, tmp_path):
    gold = AMR.format(id="a", evil=EVIL, want="want-01", more=' :op1 "x"')
    system = AMR.format(id="a", evil=EVIL, want="need-01", more=" :polarity -")
    files = write(tmp_path / "gold.amr", gold), write(tmp_path / "system.amr", system)
    tallystick("score", "amr", *files, "--report", tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    assert page.locator("#breakdown tbody tr", has_text="polarity").locator("td").last.inner_text() == "1"
    unfold(page)
    drawn = page.locator("#list svg")
    assert drawn.get_attribute("aria-label") == (
        "5 nodes (2 right, 1 in part, 1 missed, 1 spurious), 5 edges (3 right, 1 missed, 1 spurious)."
    )
    assert drawn.locator(".node.part text").text_content() == "◆ want-01 ≠ need-01"
    assert page.locator("#list .quote").inner_text().endswith(EVIL)
    page.locator("#list .graph select").select_option("only-reference")
    assert not drawn.locator(".node.spurious").is_visible()
    assert drawn.locator(".node.missed").is_visible()
    inside = drawn.evaluate(
        """s => [...s.querySelectorAll('rect')].every(r => r.x.baseVal.value + r.width.baseVal.value <= s.width.baseVal.value)"""
    )
    assert inside


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_of_text(browser, coreference, theme):
    """WCAG AA: 4.5 between a text and what lies below it, for every text of the page."""
    context = browser.new_context(color_scheme=theme, viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.goto(coreference.resolve().as_uri())
    unfold(page)
    poor = page.evaluate(CONTRAST)
    context.close()
    assert poor == []


CONTRAST = """() => {
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return c.startsWith('color(') ? [m[0]*255, m[1]*255, m[2]*255, m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1]; };
  const lum = c => { const f = c.slice(0, 3).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * f[0] + .7152 * f[1] + .0722 * f[2]; };
  const below = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > .99) return c; } return [255, 255, 255, 1]; };
  const poor = [];
  for (const e of document.querySelectorAll('main *, nav *')) {
    if (!e.getClientRects().length || e.closest('.hidden, .skip, svg') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const a = lum(parse(getComputedStyle(e).color)), b = lum(below(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) poor.push(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2) + ' ' + e.textContent.slice(0, 30));
  }
  return [...new Set(poor)].slice(0, 10);
}"""


def test_a_phone_is_wide_enough(browser, coreference):
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(coreference.resolve().as_uri())
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    context.close()


def test_no_word_of_an_alignment_is_broken_on_a_phone(browser, tmp_path):
    line = {"description": "headquartered_in", "quantity": 12, "manufacturer": "Kestrel Printing"}
    for side, lines in (("gold", [line, line]), ("system", [{**line, "manufacturer": "Kestrel Prints"}])):
        write(tmp_path / f"{side}.jsonl", json.dumps({"id": "a", "deliveries": [{"positions": lines}]}) + "\n")
    report = tmp_path / "r.html"
    tallystick("score", "records", tmp_path / "gold.jsonl", tmp_path / "system.jsonl", "--report", report)
    context = browser.new_context(viewport={"width": 400, "height": 800})
    page = context.new_page()
    page.goto(report.as_uri())
    unfold(page)
    broken = page.locator("table.pair").first.evaluate(
        """table => {
            const out = [], range = document.createRange(), walk = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
            while (walk.nextNode()) for (const word of walk.currentNode.data.matchAll(/\\S+/g)) {
                range.setStart(walk.currentNode, word.index);
                range.setEnd(walk.currentNode, word.index + word[0].length);
                if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) out.push(word[0]);
            }
            return out;
        }"""
    )
    assert broken == []
    assert page.locator("table.pair td.credit").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    context.close()


def test_five_thousand_documents(opened, tmp_path):
    """Under 2 MB, open in under 3 s of its own time, all of them listed, and the page says how many carry their alignment."""
    words = [f"token{k}" for k in range(60)]
    gold, system = tmp_path / "gold.jsonl", tmp_path / "system.jsonl"
    with gold.open("w") as left, system.open("w") as right:
        for n in range(5000):
            lines = [{"sku": f"{n}-{k}", "text": " ".join(words[k : k + 8]), "n": k} for k in range(6)]
            left.write(json.dumps({"id": f"document-{n:05}", "lines": lines}) + "\n")
            lines = [{**line, "n": line["n"] + ((n + k) % 7 == 0)} for k, line in enumerate(lines)][n % 3 :]
            right.write(json.dumps({"id": f"document-{n:05}", "lines": lines}) + "\n")
    report = tmp_path / "report.html"
    tallystick("score", "records", gold, system, "--report", report)
    assert report.stat().st_size < 2_000_000
    page = opened("about:blank")
    clock = page.context.new_cdp_session(page)
    clock.send(
        "Performance.enable", {"timeDomain": "threadTicks"}
    )  # the page's own time, whatever else the machine does
    opened(report)
    unfold(page)
    page.locator("#list table.pair").wait_for()
    spent = {one["name"]: one["value"] for one in clock.send("Performance.getMetrics")["metrics"]}
    assert 0 < spent["TaskDuration"] < 3
    assert page.locator("#found").inner_text() == "5,000 documents"
    assert "The 200 worst of 5,000 by records open" in page.locator("#documents .lead").inner_text()
    page.fill("#filter", "04999")
    assert page.locator("#list .id").all_inner_texts() == ["document-04999"]
    page.fill("#filter", "")
    page.locator("#more button").click()
    assert page.locator("#list li").count() == 100


def test_a_comparison(opened, tmp_path):
    rows = ["system,metric,value"]
    for system, values in {f"A {EVIL}": (0.9, 0.5, 0.7), "B": (0.8, 0.6, 0.6), "C": (0.7, 0.4, 0.8)}.items():
        rows += [f'"{system}",{metric},{value}' for metric, value in zip(("muc", "b3", "ceaf"), values, strict=True)]
    file = write(tmp_path / "figures.csv", "\n".join(rows) + "\n")
    tallystick("compare", "figures", file, "--report", tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    assert page.title() == "figures.csv · tallystick"
    table = page.locator(".comparison table")
    table.get_by_role("button", name="b3").click()
    assert [row.split("\n")[0].split("\t")[0] for row in table.locator("tbody th").all_inner_texts()] == [
        "B",
        f"A {EVIL}",
        "C",
    ]
    assert "↑1" in table.inner_text()
    assert page.locator(".ranks .series").count() == 3
    page.locator(".coefficient").select_option("spearman")
    assert page.locator(".agree tbody tr").first.locator("td").nth(1).inner_text() == "0.5000"


def test_differences_of_a_comparison(opened, tmp_path):
    gold = "".join(f"{word}\t{tag}\n" for k in range(40) for word, tag in ((f"w{k}", "B-PER"), ("x", "O"), ("", "")))
    gold = gold.replace("\t\n", "\n")
    good = write(tmp_path / "good.iob", gold)
    poor = write(tmp_path / "poor.iob", gold.replace("B-PER", "O", 30))
    report = tmp_path / "report.html"
    tallystick("compare", "spans", write(tmp_path / "gold.iob", gold), good, poor, "--report", report)
    page = opened(report)
    cell = page.locator(".pairs tbody tr").first.locator("td").nth(1)
    assert cell.inner_text().startswith("+0.")
    assert "●" in cell.inner_text()
    assert page.locator(".comparison .beats").first.inner_text() == "b"


def test_names_of_ranks_can_be_told_apart(opened, tmp_path):
    """Systems that share a rank have their names one below the other; long names keep both ends."""
    names = [f"a-system-with-a-long-name-{k}" for k in range(4)]
    rows = [f"{name},{metric},{value}" for name, value in zip(names, (2, 1, 2, 2), strict=True) for metric in "mn"]
    file = write(tmp_path / "figures.csv", "\n".join(["system,metric,value", *rows]) + "\n")
    tallystick("compare", "figures", file, "--report", tmp_path / "report.html")
    texts = opened(tmp_path / "report.html").locator(".ranks .series text")
    shown = [(text, float(texts.nth(k).get_attribute("y"))) for k, text in enumerate(texts.all_text_contents())]
    left = sorted(shown[::2], key=lambda pair: pair[1])
    assert [text[-6:] for text, _ in left] == ["name-0", "name-2", "name-3", "name-1"]
    assert all(below - above >= 20 for (_, above), (_, below) in pairwise(left))
