"""Texts that are not short, not Latin or not whole words: the page still shows what is to be judged, in its order, inside its cards."""

import pytest
from serving_page import served

from tallystick.judging import Answers, Judgement, Question, Store

HEBREW = "שלום עולם, הנשיא ביקר בירושלים אתמול."
UNBROKEN = "x" * 400


@pytest.fixture
def path(tmp_path):
    start = HEBREW.index("הנשיא")
    asked = [
        Question(
            "ירושלים",
            ("הנשיא",),
            HEBREW,
            "visit",
            "ביקר",
            "place",
            None,
            ((start, start + 5),),
            (start + 6, start + 10),
        ),
        Question(UNBROKEN, (UNBROKEN,), UNBROKEN, role="what"),
        Question("end", ("word",), "word " * 5_000 + "end", role="what", candidate_span=(25_000, 25_003)),
    ]
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions(asked)
        for name, answers in (("anna", Answers(False)), ("ben", Answers(True, (0,), "conveys"))):
            store.add_all([Judgement(one, name, answers.verdict(), answers=answers) for one in asked[1:2]])
    return tmp_path / "j.sqlite"


@pytest.fixture
def page(path, browser):
    with served(path) as server:
        context = browser.new_context(viewport={"width": 1200, "height": 800})
        made = context.new_page()
        made.goto(server.address)
        made.wait_for_selector("#name")
        made.base = server.address.split("?")[0]
        yield made
        context.close()


def look(page, where):
    page.goto(page.base + where)
    page.wait_for_selector("main section, main article")


def test_a_text_from_right_to_left_reads_from_right_to_left(page):
    look(page, "?annotator=carl&question=1")
    assert page.eval_on_selector("#text", "e => getComputedStyle(e).direction") == "rtl"
    first, second = (
        page.locator(f"mark.{name}").first.bounding_box() for name in ("reference", "trigger")
    )  # fmt: skip
    assert first["x"] > second["x"]  # what is said first stands to the right
    tag = page.locator(".tag.reference").first.bounding_box()
    assert second["x"] < tag["x"] < first["x"]  # and its name after it, between the two
    page.keyboard.press("1")
    assert page.eval_on_selector("#q2 bdi", "e => getComputedStyle(e).unicodeBidi") == "isolate"


def test_an_unbroken_text_pushes_nothing_off_the_screen(page):
    for width in (1200, 360):
        page.set_viewport_size({"width": width, "height": 800})
        look(page, "?annotator=anna&page=differences")
        page.wait_for_selector(".versus")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for side in page.locator(".versus > div").all():
            box = side.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width


def test_on_a_narrow_screen_all_buttons_are_inside(page):
    page.set_viewport_size({"width": 360, "height": 700})
    look(page, "?annotator=carl&question=1")
    for name in ("back", "skip", "next"):
        box, card = page.locator(f"#{name}").bounding_box(), page.locator(".ask").bounding_box()
        assert card["x"] <= box["x"]
        assert box["x"] + box["width"] <= card["x"] + card["width"]


def test_a_long_document_is_at_the_candidate_at_once(page):
    look(page, "?annotator=carl&question=3")
    page.wait_for_selector("mark.candidate")
    mark, panel = page.locator("mark.candidate").bounding_box(), page.locator(".document").bounding_box()
    assert panel["y"] <= mark["y"] <= panel["y"] + panel["height"]


def test_a_name_that_is_none_is_asked_for_again(page):
    look(page, f"?annotator={'a' * 81}")
    page.wait_for_selector("#name")
    assert "a name of 1 to 80 characters" in page.inner_text("#trouble")
    page.fill("#name", "carl")
    page.keyboard.press("Enter")
    page.wait_for_selector("#count")
    assert page.inner_text("#trouble") == ""
