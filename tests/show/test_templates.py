"""Templates are rendered as Jinja renders them, whose language they are written in."""

import pytest
from jinja2 import Environment, FunctionLoader

from running import run
from tallystick.files import templates
from tallystick.show import page


def by_jinja(name, load, values):
    found = Environment(loader=FunctionLoader(load), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return found.get_template(name).render(**values)


MACROS = '{% macro twice(x, sep=", ") %}\n{{ x }}{{ sep }}{{ x }}{% endmacro %}\n{% macro nest(ones) %}({% for one in ones %}{{ one.name }}{{ nest(one.ones) }}{% endfor %}){% endmacro %}\n'
BASE = "<a>{{ title }}</a>\n{% block content %}{% endblock %}\n<i>{{ markup|safe }}</i>\n"
TEMPLATES = {
    "text": "a <b> {{ title }}\n  c\n",
    "if": "{% if one %}\n  one\n{% elif many|length > 1 %}\n  many\n  {% else %}\nnone\n{% endif %}\nend",
    "not none": '{% if nothing is not none %}x{% endif %}{% if not nothing %} {{ "%.2f" % number }}{% endif %}',
    "for": "{% for a, b in pairs %}\n{{ loop.index0 }}{{ a }}{% if not loop.last %}, {% endif %}{% for x in many %}{% if loop.first %}[{% endif %}{{ x }}{% endfor %}{{ loop.index0 }}\n {% endfor %}",
    "either": '{{ title if one else "none" }}{{ nothing or "-" }}{{ {"a": 1}["a"] }}{{ "{:,}".format(many|length) }}{{ pairs[0][1] }}',
    "child": '{% extends "base" %}\n{% from "macros" import twice, nest %}\n{% block content %}\n{{ twice(title) }} {{ twice(1, "-") }}{{ nest(tree) }}\n{% endblock %}\n',
    "base": BASE,
    "macros": MACROS,
}
TREE = [{"name": "<r>", "ones": [{"name": "s", "ones": []}, {"name": "t", "ones": []}]}]


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name not in ("base", "macros")])
@pytest.mark.parametrize("many", [[], ["x"], ["x", "'y' & \"z\""]], ids=len)
@pytest.mark.parametrize("one", [0, 1])
def test_each_part_of_the_language(name, many, one):
    values = {
        "title": "<t> & 'u'", "one": one, "many": many, "pairs": [("a<", 1), ("b", 2.5)], "nothing": None, "number": 2 / 3,
        "markup": "<b>", "tree": TREE,
    }  # fmt: skip
    assert templates.render(name, TEMPLATES.__getitem__, values) == by_jinja(name, TEMPLATES.__getitem__, values)


def test_what_is_unknown_is_an_error():
    with pytest.raises(KeyError):
        templates.render("t", lambda _: "{{ title }}", {})


@pytest.mark.parametrize("command", ["score", "compare"])
def test_our_pages_are_those_of_jinja(command, tmp_path, monkeypatch):
    gold, one, two = (tmp_path / name for name in ("gold.jsonl", "one.jsonl", "two.jsonl"))
    for file, words in ((gold, "abc"), (one, "abd"), (two, "xbc")):
        file.write_text("".join(f'{{"id": "<{k}>", "word": "{word}", "n": {k}}}\n' for k, word in enumerate(words)))
    seen = []

    def both(name, load, values):
        seen.append((templates.render(name, load, values), by_jinja(name, load, values)))
        return seen[-1][0]

    monkeypatch.setattr(page, "render", both)
    files = [gold, one] if command == "score" else [gold, one, two]
    run(command, "records", *map(str, files), "--report", str(tmp_path / "page.html"))
    ((ours, theirs),) = seen
    assert ours == theirs
