"""The judging page as two people use it, in a real browser: by keyboard, with a reload and a killed server in between."""

import json
from pathlib import Path

import pytest
from serving_page import served

from running import run
from tallystick.judging import Store

EXAMPLES = Path(__file__).parents[2] / "src" / "tallystick" / "examples"
GOLD, SYSTEM, SECOND, PARSES = (
    str(EXAMPLES / f"arguments.{name}") for name in ("gold.jsonl", "system.jsonl", "second.jsonl", "parses.conllu")
)


@pytest.fixture
def path(tmp_path):
    """The open questions of two systems: seven of the first, which the paper's Tables 3 and 4 have, then the second's."""
    done = run("judge", "export", GOLD, SYSTEM, SECOND, "--parses", PARSES, "--store", tmp_path / "j.sqlite")
    assert "15 questions, 15 of them new" in done.stderr
    return tmp_path / "j.sqlite"


def sit_down(browser, address, name):
    page = browser.new_context(viewport={"width": 1280, "height": 860}).new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("console", lambda message: page.faults.append(message.text) if message.type == "error" else None)
    page.goto(address)
    page.wait_for_selector("#name")
    page.fill("#name", name)
    page.keyboard.press("Enter")
    at(page, 1)
    assert "token" not in page.url
    return page


def at(page, number):
    page.wait_for_selector(f"#count:has-text('Question {number} of 15')")


def judge(page, keys, then):
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    at(page, then)


def labels(path, name):
    with Store(path) as store:
        found = store.labels(name)
        return [found[key] for key in store.queue() if key in found]


def scored(path):
    done = run("score", "arguments", GOLD, SYSTEM, "--parses", PARSES, "--judge", path, "--format", "json")
    found = json.loads(done.stdout)
    return found["metrics"]["judge"]["tally"], found["judge"]


ANNA = ["173", "173", "175", "173", "173", "184", "176", "2", "2", "2"]
BEN = ["173", "173", "173", "173", "2", "184", "2", "2", "2", "175"]
C, P, I = "Correct", "Partial", "Incorrect"  # noqa: E741


def test_ten_judgements_by_keyboard_a_reload_a_killed_server_and_a_second_person(browser, path):
    with served(path) as first:
        page = sit_down(browser, first.address, "anna")
        for k, keys in enumerate(ANNA[:4]):
            judge(page, keys, k + 2)
        assert labels(path, "anna") == [C, C, P, C]  # each is in the store at once

        page.keyboard.press("1")
        page.keyboard.press("7")
        page.reload()  # in the middle of an answer: the page comes back to it, and even what was half typed is there
        at(page, 5)
        assert page.is_checked("#q1 [data-key='1']")
        assert page.is_checked("#q2 [data-key='7']")
        page.keyboard.press("Enter")
        page.wait_for_selector("#hint:has-text('Question 3 is open')")
        judge(page, "3", 6)

        page.keyboard.press("b")  # back, where the answer stands
        at(page, 5)
        assert page.is_checked("#q3 [data-key='3']")
        page.keyboard.press("s")
        at(page, 6)
        page.keyboard.press("s")  # skip, and come back by the arrow
        at(page, 7)
        page.keyboard.press("ArrowLeft")
        at(page, 6)
        judge(page, ANNA[5], 7)
        first.kill()
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        page.wait_for_selector("#trouble:has-text('The server does not answer')")
        page.faults.clear()  # the browser's own complaint about the connection
    assert labels(path, "anna") == [C, C, P, C, C, C]

    with served(path) as again:
        page.goto(again.address)
        page.click(".people button:has-text('anna')")
        at(page, 7)  # goes on where she was
        for k, keys in enumerate(ANNA[6:]):
            judge(page, keys, k + 8)
        assert page.get_attribute("#progress", "aria-valuetext") == "10 of 15 judged"
        assert page.faults == []
        assert labels(path, "anna") == [C, C, P, C, C, C, I, I, I, I]

        other = sit_down(browser, again.address, "ben")
        assert "κ" not in other.inner_text("#kappa")
        for k, keys in enumerate(BEN):
            assert other.query_selector(".said") is None  # nothing of anna's is seen before ben has answered
            judge(other, keys, k + 2)
        # p_o = 7/10, p_e = (5*5 + 1*1 + 4*4) / 100 = .42, kappa = .28/.58; on two labels p_o = 8/10, p_e = .5, kappa = .6
        assert other.inner_text("#kappa") == "κ 0.48 with anna (10)"
        other.click("#to-differences")
        other.wait_for_selector("article")
        assert other.locator("article").count() == 3
        shown = other.inner_text("main")
        assert "0.48" in shown
        assert "0.60" in shown
        assert "70 %" in shown
        assert "Neither is marked as more experienced" in shown
        other.click("article:has-text('U.S.') button")
        at(other, 3)
        assert "anna: Partial" in other.inner_text(".said")
        assert other.faults == []
        assert page.faults == []
        page.context.close()
        other.context.close()
    assert labels(path, "ben") == [C, C, C, C, I, C, I, I, I, P]

    # The rules accept 4 of 11 (South Korean vehicles by its parse). Both accept Bush's administration, she and U.S. (United States),
    # and Guccifer as none of the references; they differ about U.S. (government) and the weapons.
    tally, judged = scored(path)
    assert tally == {"num_p": 8, "den_p": 11, "num_r": 7, "den_r": 11}
    assert (judged["judged"], judged["open"]) == (5, 7)
    run("judge", "judges", path, "--experience", "anna=1")  # Partial counts nothing, the weapons are Correct
    tally, judged = scored(path)
    assert tally == {"num_p": 9, "den_p": 11, "num_r": 8, "den_r": 11}
    assert (judged["judged"], judged["open"]) == (7, 7)


def test_by_mouse_on_a_narrow_screen_with_everything_labelled(browser, path):
    with served(path, "--annotator", "cleo") as server:
        context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
        page = context.new_page()
        page.goto(server.address)
        at(page, 1)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.get_by_role("radio", name="No", exact=True).check()
        assert page.is_hidden("#q2")
        assert page.is_hidden("#q3")
        page.get_by_role("radio", name="Yes", exact=True).check()
        page.get_by_role("checkbox", name="Yes, Bush", exact=True).check()
        page.get_by_role("radio", name="Conveys at least the needed information", exact=True).check()
        page.get_by_label("Remark, if you like").fill("1 2 3: keys are text here")
        page.get_by_role("button", name="Save, next").click()
        at(page, 2)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.get_by_role("button", name="Back").click()
        at(page, 1)
        assert "you answered Correct" in page.inner_text("#count")
        assert page.get_by_label("Remark, if you like").input_value() == "1 2 3: keys are text here"
        names = page.eval_on_selector_all(
            "button, input, textarea",
            "all => all.filter(one => !(one.innerText || one.labels?.length || one.ariaLabel)).length",
        )
        assert names == 0
        context.close()
    with Store(path) as store:
        (one,) = store.judgements("cleo")
        assert (one.verdict.label, one.verdict.explanation) == ("Correct", "1 2 3: keys are text here")


def test_the_last_answer_ends_the_queue(browser, path):
    with served(path, "--annotator", "cleo") as server:
        page = browser.new_context().new_page()
        page.goto(server.address)
        for k in range(14):
            at(page, k + 1)
            page.keyboard.press("2")
            page.keyboard.press("Enter")
        at(page, 15)
        page.keyboard.press("b")
        at(page, 14)
        judge(page, "", 15)  # answered already: on to the one that is open
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('All judged. Thank you.')")
        page.reload()
        page.wait_for_selector("h1:has-text('All judged. Thank you.')")
        page.context.close()
    assert labels(path, "cleo") == [I] * 15
