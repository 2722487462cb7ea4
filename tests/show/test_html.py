"""HTML is made of patterns, and whatever is put into them is escaped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.show.html import Html, each, escape, html, joined, where


@given(st.text() | st.integers() | st.none())
def test_as_others_escape(value):
    assert escape(value) == pytest.importorskip("markupsafe").escape(value)


def test_only_html_is_put_in_as_it_is():
    inside = html("<b>{}</b>", "<i>")
    assert isinstance(inside, Html)
    assert inside == "<b>&lt;i&gt;</b>"
    assert html("<p title='{}'>{}</p>", "a'b", inside) == "<p title='a&#39;b'><b>&lt;i&gt;</b></p>"
    assert html("{}", inside.upper()) == "&lt;B&gt;&amp;LT;I&amp;GT;&lt;/B&gt;"  # a text made of HTML is a text


def test_parts():
    assert each("<li{}>{}</li>", [(where(k == 1, " class='{}'", "x"), f"<{k}>") for k in range(2)]) == (
        "<li>&lt;0&gt;</li><li class='x'>&lt;1&gt;</li>"
    )
    assert each("<li>{}</li>", ["a", "b"]) == "<li>a</li><li>b</li>"
    assert joined(html("{}", "{}"), where("", "never"), html("&")) == "{}&"
