import pytest

from tallystick.errors import MetricError
from tallystick.tasks.arguments.stages import CONJUNCTIONS, HARMLESS, PRONOUNS, Wording, describe_words, words

WORDING = Wording()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("the Obama administration", "obama administration"),
        ("Bush's administration", "bush administration"),
        ("Bush 's  administration ,", "bush administration"),
        ('the soldiers\' "weapons"', "soldiers weapons"),
        ("U.S.", "u s"),
        ("U . S .", "u s"),
        ("1,000 people", "1,000 people"),
        ("5 %", "5 %"),
        ("no soldiers", "no soldiers"),
        ("Both brothers", "brothers"),
        ("’s", "'s"),  # nothing remains: the original stays
        ("the", "the"),
        ("his house", "his house"),
        ("", ""),
    ],
)
def test_form(text, form):
    assert " ".join(WORDING.read(text).form) == form


@pytest.mark.parametrize(
    ("text", "pronoun"),
    [
        ("she", True), ("Himself", True), ("those", True), ("who ,", True), ("the", False), ("she said", False),
        ("US", False), ("HE", True), ("THE US", False), ("THEM", True), ("us", True), ("WHO", False), ("I", True), ("Clinton", False), ("", False),
    ],
)  # fmt: skip
def test_pronouns_but_not_abbreviations(text, pronoun):
    assert WORDING.read(text).pronoun is pronoun


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("weapons and explosives", ("weapons", "explosives")),
        ("Syria, Iraq, and the U.S.", ("Syria", "Iraq", "the U.S.")),
        ("Syria , Iraq And Iran", ("Syria", "Iraq", "Iran")),
        ("1,000 men and 20 women", ("1,000 men", "20 women")),
        ("Syria, Iraq", ()),  # no conjunction, no list
        ("and Syria", ()),
        ("Sandy", ()),
        ("he or she", ()),
    ],
)
def test_parts_keep_their_writing(text, parts):
    assert WORDING.read(text).parts == parts


def test_other_conjunctions():
    assert Wording(conjunctions=frozenset(("and", "or"))).read("he or she").parts == ("he", "she")


def test_a_mark_of_the_genitive_is_one_word():
    assert words("Bush’s aides' house") == ("bush", "'s", "aides", "'", "house")


def test_lists_in_the_signature():
    assert WORDING.signature == {"pronouns": "usual", "harmless": "usual", "conjunctions": "and"}
    assert describe_words(frozenset(), HARMLESS) == "none"
    assert describe_words(CONJUNCTIONS | {"or"}, CONJUNCTIONS) == "and+or"
    assert describe_words(PRONOUNS - {"it"}, PRONOUNS).startswith(f"{len(PRONOUNS) - 1} words ")
    assert describe_words(PRONOUNS - {"it"}, PRONOUNS) != describe_words(PRONOUNS - {"us"}, PRONOUNS)


@pytest.mark.parametrize("entry", ["as well as", "e.g.", "And", ""])
def test_a_word_that_would_match_nothing_is_refused(entry):
    with pytest.raises(MetricError, match="conjunctions: expected single words in lower case"):
        Wording(conjunctions=frozenset(("and", entry)))
