"""The key of a list is compared as its field is: where that is an equality of forms it is the key's, else it is an error."""

import pytest

import tallystick as ts

EQUALITIES = [
    ({"text": ["equal", "casefold"]}, "Berlin", "berlin"),
    ({"text": ["equal", "casefold"], "weight": 2}, "Berlin", "BERLIN"),
    ({"aliases": {"USD": ["US$"]}}, "USD", "US$"),
    ({"aliases": {"USD": ["US$"]}, "text": ["equal", "casefold"], "nothing": ["missing"]}, "USD", "usd"),
    ("boolean", "yes", "true"),
    ({"phone": "DE"}, "030 123456", "+49 30 123456"),
    ("equal", "a  b", "a b"),
]
FUZZY = [{"text": "levenshtein"}, {"number": {"absolute": 0.1}}, {"hierarchy": "."}, {"any_of": True}, {"date": {"days": 1}}]  # fmt: skip


def scored(choice, gold, system, copies=1):
    sides = ([{"lines": [{"city": city, "n": k} for k, city in enumerate(side)]}] * copies for side in (gold, system))
    return ts.score(*sides, choices={"lines": {"key": "city"}, "lines[*].city": choice})["records"]


@pytest.mark.parametrize("copies", [1, 50])  # one by one, and in columns
@pytest.mark.parametrize(("choice", "gold", "system"), EQUALITIES)
def test_an_equality_of_forms_is_the_keys(choice, gold, system, copies):
    for more in ([], [None]):  # a key that is not there is none of them
        found = scored(choice, [gold, *more], [system, *more], copies)
        assert found.f1 == 1, found.metric
        assert found.tally == scored(choice, [gold, *more], [gold, *more], copies).tally
    assert scored(choice, [gold], [None], copies).f1 == 0


@pytest.mark.parametrize("choice", FUZZY)
def test_what_is_no_equality_is_an_error(choice):
    value = 1 if "number" in choice else "2024-01-02"
    with pytest.raises(ts.TallystickError, match=r"the key 'city' is compared by .*; a key needs an equality, such as"):
        scored(choice, [value], [value])


def test_the_remedy_of_an_error_in_a_key_does_what_it_says():
    gold, system = ([{"lines": [{"city": city, "n": 1}]}] for city in ("Berlin", "berlin"))
    (group,) = ts.score(gold, system, choices={"lines": {"key": "city"}})["records"].grouped_errors().fields["lines[*].city"].groups  # fmt: skip
    assert group.kind == "case"
    assert scored({"text": ["equal", "casefold", "whitespace"]}, ["Berlin"], ["berlin"]).f1 == 1
