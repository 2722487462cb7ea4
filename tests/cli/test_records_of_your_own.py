"""`score records` with a schema, with choices, with neither; noisy predictions; what a new user meets."""

import json
from pathlib import Path

import pytest

from running import run

GOLD = [
    {"id": f"d{k}", "vendor": f"v{k}", "date": None if k % 3 == 0 else f"2026-01-{k + 1:02}", "total": k + 0.5,
     "lines": [{"sku": f"s{n}", "n": n, "price": 10.0 * n} for n in range(1, 4)]}
    for k in range(9)
]  # fmt: skip


def system():
    rows = json.loads(json.dumps(GOLD))
    rows[1]["lines"][0]["price"] = 10.05
    rows[2]["lines"].reverse()
    rows[3]["date"] = "2026-09-09"
    del rows[4]["vendor"]
    rows[5]["lines"] = rows[5]["lines"][:1]
    rows[6]["lines"][1]["price"] = 99.0
    rows[7]["lines"][1]["price"] = 98.0
    return rows


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("gold.jsonl", GOLD)
    write("system.jsonl", system())
    return tmp_path


def write(name, rows):
    Path(name).write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))


def score(*arguments, **options):
    return run("score", "records", "gold.jsonl", "system.jsonl", *arguments, **options)


def fields(done):
    return {row["path"]: row for row in json.loads(done.stdout)["fields"]["records"]}


def test_two_commands_from_two_files_to_the_worst_field_and_three_examples(folder):
    done = score("--format", "table")
    assert (
        "shape, inferred from gold.jsonl: {id: string, vendor: string, date: string?, total: number, lines:"
        in done.stderr
    )
    table = done.stdout[done.stdout.index("field") :].splitlines()
    assert table[2].split()[0] == "lines[*].price"
    command = (
        done.stderr[done.stderr.index("examples of the worst field: tallystick ") :].split("tallystick ", 1)[1].strip()
    )
    assert command == "explain records gold.jsonl system.jsonl --field 'lines[*].price'"
    examples = run(*command.replace("'", "").split(), "--format", "table").stdout
    assert examples.count("document d") == 3
    assert "lines[1].price" in examples


def test_the_table_of_fields_tells_wrong_missing_and_extra_apart(folder):
    found = fields(score("--format", "json"))
    price = found["lines[*].price"]
    assert (price["support"], price["wrong"], price["missing"], price["extra"]) == (27, 3, 2, 0)
    assert (found["vendor"]["missing"], found["date"]["extra"]) == (1, 1)
    assert found["lines[*].n"]["wrong"] == 0, "the order of items changes nothing"


def test_exact_records_are_counted_and_can_be_a_gate(folder):
    done = score("--format", "json")
    assert json.loads(done.stdout)["exact"] == {"documents": 3, "rate": 3 / 9}
    assert "exact is 0.3333, under 0.5" in score("--fail-under", "exact=0.5", code=1).stderr


def test_choices_by_path_from_a_file(folder):
    choices = {"lines[*].price": {"number": {"relative": 0.01}}, "vendor": "ignore", "lines": {"key": "sku"}}
    Path("choices.json").write_text(json.dumps(choices))
    done = score("--choices", "choices.json", "--format", "json")
    assert fields(done)["lines[*].price"]["wrong"] == 2
    assert (
        'match(keyed(each(sku=equal, n=equal, price=number(relative=0.01)), "sku"), 1:1)'
        in json.loads(done.stdout)["signature"]
    )
    pytest.importorskip("yaml")
    Path("choices.yaml").write_text("lines[*].price: {number: {relative: 0.01}}\nvendor: ignore\nlines: {key: sku}\n")
    assert score("--choices", "choices.yaml", "--format", "json").stdout == done.stdout


def test_describe_says_which_choice_applies_where_and_why(folder):
    Path("choices.json").write_text(
        json.dumps({"lines[*].price": {"number": {"absolute": 1}}, "lines": {"list": "ordered"}})
    )
    done = score("--choices", "choices.json", "--describe")
    rows = {line.split("\t")[0].strip("│├└─ "): line.split("\t")[1:] for line in done.stdout.splitlines()}
    assert rows["price"] == ["int | float", "number(absolute=1.0)", "choices.json"]
    assert rows["lines"][1:] == ["in order", "choices.json"]
    assert rows["id"][1:] == ["ignored", "it pairs the documents"]
    assert rows["vendor"] == ["str", "equal", "default"]
    assert "metric: f1(each(" in done.stderr


def test_a_saved_schema_scores_the_same_and_can_be_edited(folder):
    first = score("--save-schema", "s.json", "--format", "json")
    schema = json.loads(Path("s.json").read_text())
    write("system.jsonl", [{"vendor": None, **row} for row in system()])
    schema["properties"]["vendor"] = {"type": ["string", "null"]}
    Path("s.json").write_text(json.dumps(schema))
    second = score("--schema", "s.json", "--format", "json")
    assert (
        json.loads(first.stdout)["metrics"]["records"]["tally"]
        == json.loads(second.stdout)["metrics"]["records"]["tally"]
    )
    assert fields(first).keys() == fields(second).keys()


def test_worst_documents_are_shown_field_by_field(folder):
    done = score("--worst", "2", "--format", "json")
    worst = json.loads(done.stdout)["worst"]
    assert [one["document"] for one in worst] == ["d5", "d6"]
    assert [(d["what"], d["path"]) for d in worst[0]["differences"]] == [
        ("missing", "lines[1]"),
        ("missing", "lines[2]"),
    ]
    assert "- missing" in score("--worst", "1", "--format", "table").stdout


# Noisy output


def noisy():
    rows = [json.dumps(row) for row in system()]
    rows[0] = f"```json {rows[0]} ```"
    rows[2] = f"Sure, here it is: {rows[2]} Anything else?"
    rows[8] = "I am sorry, I cannot do that."
    return rows


def test_noisy_predictions_are_an_error_unless_asked_for(folder):
    write("system.jsonl", noisy())
    assert "system.jsonl:1:1: is not JSON" in score(code=2).stderr


def test_lenient_repairs_counts_and_lists(folder):
    write("system.jsonl", noisy())
    done = score("--lenient", "--format", "json")
    content = json.loads(done.stdout)
    assert content["repaired"] == {"predictions": 2, "code fence": 1, "text around the JSON": 1}
    assert content["invalid"] == [{"document": "d8", "reason": "holds no JSON object or list"}]
    assert content["documents"] == 9, "never dropped"
    assert content["exact"]["documents"] == 2
    plain = json.loads(run("score", "records", "gold.jsonl", "gold.jsonl", "--format", "json").stdout)
    assert content["metrics"]["records"]["tally"]["den_r"] == plain["metrics"]["records"]["tally"]["den_r"]
    shown = score("--lenient").stderr
    assert "repaired: 2 predictions (code fence 1, text around the JSON 1)" in shown
    assert "invalid, scoring nothing: 1 prediction (d8: holds no JSON object or list)" in shown


def test_what_a_model_answered_may_stand_in_a_field(folder):
    rows = system()
    write(
        "answers.jsonl",
        [
            {"id": row["id"], "output": f"```json\n{json.dumps({k: v for k, v in row.items() if k != 'id'})}\n```"}
            for row in rows
        ],
    )
    arguments = ["score", "records", "gold.jsonl", "answers.jsonl", "--from", "output", "--format", "json"]
    assert "the text under 'output' is not JSON" in run(*arguments, code=2).stderr
    content = json.loads(run(*arguments, "--lenient").stdout)
    assert (
        content["metrics"]["records"]["tally"]
        == json.loads(score("--format", "json").stdout)["metrics"]["records"]["tally"]
    )
    assert "has no field 'outptu', found id, output" in run(*arguments[:5], "outptu", code=2).stderr


def test_a_missing_prediction_scores_nothing_if_lenient(folder):
    write("system.jsonl", [*system()[:7][::-1], {**system()[8], "id": "zz"}])
    assert '2 only in the reference: "d7", "d8"; 1 only in the prediction: "zz"' in score(code=3).stderr
    done = score("--lenient", "--format", "json")
    assert [one["document"] for one in json.loads(done.stdout)["invalid"]] == ["d7", "d8"]
    assert any('ignored, having no reference: 1 prediction: "zz"' in w for w in json.loads(done.stdout)["warnings"])


def test_values_of_the_wrong_kind_count_as_wrong_if_the_shape_was_inferred_and_are_said(folder):
    rows = system()
    rows[0]["lines"][0]["price"] = "n/a"
    rows[1]["lines"] = "none"
    write("system.jsonl", rows)
    done = score("--format", "json")
    assert fields(done)["lines[*].price"]["wrong"] == 3
    assert json.loads(done.stdout)["misfits"] == {"lines[*].price": 1, "lines": 1}


def test_null_missing_and_empty(folder):
    write("gold.jsonl", [{"id": 1, "a": "", "b": None, "c": "x"}])
    write("system.jsonl", [{"id": 1, "b": None, "c": "x"}])
    by_default = fields(score("--format", "json"))
    assert by_default["a"]["missing"] == 1
    assert by_default["b"]["support"] == 0
    same = fields(score("--nothing", "missing,null,empty", "--format", "json"))
    assert same["a"]["support"] == 0
    different = fields(score("--nothing", "missing", "--format", "json"))
    assert (different["b"]["support"], different["b"]["figures"]["f1"]) == (1, 1)
    assert "found 'emtpy'" in score("--nothing", "emtpy", code=2).stderr


def test_alternatives_in_the_gold_by_path(folder):
    rows = json.loads(json.dumps(GOLD))
    rows[0]["vendor"] = ["v0", "V Zero"]
    write("gold.jsonl", rows)
    write("system.jsonl", [{**GOLD[0], "vendor": "V Zero"}, *GOLD[1:]])
    Path("choices.json").write_text(json.dumps({"vendor": {"any_of": True}}))
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "vendor": {"type": "string", "x-tallystick": {"any_of": True}}},
    }
    Path("s.json").write_text(json.dumps(schema))
    done = json.loads(score("--schema", "s.json", "--format", "json").stdout)
    assert done["exact"]["documents"] == 9
    schema["properties"]["vendor"].pop("x-tallystick")
    Path("s.json").write_text(json.dumps(schema))
    done = json.loads(score("--schema", "s.json", "--choices", "choices.json", "--format", "json").stdout)
    assert done["exact"]["documents"] == 9


def test_a_json_list_is_read_like_lines(folder):
    Path("gold.json").write_text(json.dumps(GOLD, indent=1))
    done = run("score", "records", "gold.json", "system.jsonl", "--format", "json")
    assert json.loads(done.stdout)["metrics"] == json.loads(score("--format", "json").stdout)["metrics"]


# Bad input


def test_a_field_of_the_wrong_type_far_down_names_its_line(folder):
    Path("types_here.py").write_text(
        "from dataclasses import dataclass\n\n@dataclass\nclass D:\n    id: int\n    a: int\n"
    )
    rows = [f'{{"id": {k}, "a": {k % 7}}}' for k in range(1, 90_001)]
    write("gold.jsonl", rows)
    rows[81_233] = '{"id": 81234, "a": "3"}'
    write("system.jsonl", rows)
    message = score("--type", "types_here:D", code=2).stderr
    assert "system.jsonl:81234: Expected `int`, got `str` - at `$.a`" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"type": "object", "properties": {"a": {"type": "strng"}}}', "s.json: at #/properties/a/type: unknown type 'strng'"),
        ('{"type": "object", "properties": {"a": {"type": "string", "x-tallystick": {"tetx": "jaro"}}}}', "s.json: at #/properties/a/x-tallystick: unknown choice 'tetx'"),
        ('{"type": "object",', "s.json:1:19: is not JSON"),
    ],
)  # fmt: skip
def test_schema_errors_name_their_pointer(folder, content, message):
    Path("s.json").write_text(content)
    assert message in score("--schema", "s.json", code=2).stderr


def test_a_type_that_cannot_be_derived(folder):
    Path("types_here.py").write_text(
        "from dataclasses import dataclass\nfrom typing import Any\n\n@dataclass\nclass D:\n    id: str\n    total: Any\n"
    )
    assert "at total: no metric can be derived from Any" in score("--type", "types_here:D", code=2).stderr


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"lines[*].prize": "exact"}, 'Did you mean "lines[*].price"'),
        ({"vendor": {"text": "levenstein"}}, "c.json: vendor: unknown text similarity 'levenstein'"),
        (["vendor"], "c.json: expected a mapping from paths to choices"),
    ],
)
def test_choices_that_are_misspelt(folder, choices, message):
    Path("c.json").write_text(json.dumps(choices))
    assert message in score("--choices", "c.json", code=2).stderr


def test_files_in_another_order_use_an_index_and_score_the_same(folder):
    forward = json.loads(score("--format", "json").stdout)["metrics"]["records"]["tally"]
    write("system.jsonl", system()[::-1])
    assert json.loads(score("--format", "json").stdout)["metrics"]["records"]["tally"] == forward
    import gzip

    Path("system.jsonl.gz").write_bytes(gzip.compress(Path("system.jsonl").read_bytes()))
    done = run("score", "records", "gold.jsonl", "system.jsonl.gz", "--format", "json")
    assert json.loads(done.stdout)["metrics"]["records"]["tally"] == forward


def test_explain_finds_a_document_and_says_if_there_is_none(folder):
    tree = run("explain", "records", "gold.jsonl", "system.jsonl", "--document", "d6").stdout
    assert "≠ price: 20.0 ↔ 99.0" in tree
    assert (
        'Did you mean "d6"'
        in run("explain", "records", "gold.jsonl", "system.jsonl", "--document", "d66", code=2).stderr
    )
    assert "nothing is wrong in 9 documents" in run("explain", "records", "gold.jsonl", "gold.jsonl").stderr
    message = run("explain", "records", "gold.jsonl", "system.jsonl", "--field", "lines[*].prize", code=2).stderr
    assert 'Did you mean "lines[*].price"' in message


@pytest.mark.parametrize("lines", [[], None, "absent"])
def test_explain_shows_a_field_of_items_whose_whole_list_is_empty_null_or_missing(folder, lines):
    write("gold.jsonl", [{"id": "a", "lines": [{"sku": "1", "desc": "x"}, {"sku": "2", "desc": "y"}]}])
    write("system.jsonl", [{"id": "a"} if lines == "absent" else {"id": "a", "lines": lines}])
    done = run("explain", "records", "gold.jsonl", "system.jsonl", "--field", "lines[*].desc")
    assert [line.split("\t")[:4] for line in done.stdout.splitlines()[1:]] == [
        ["a", "missing", "lines[0].desc", "'x'"],
        ["a", "missing", "lines[1].desc", "'y'"],
    ]


def test_a_document_without_a_prediction_is_not_called_unreadable(folder):
    write("gold.jsonl", [{"id": "a", "x": 1}, {"id": "b", "x": 2}, {"id": "c", "x": 3}])
    write("system.jsonl", [{"id": "a", "x": 1}, "no"])
    explain = "explain", "records", "gold.jsonl", "system.jsonl", "--lenient"
    assert run(*explain, "--document", "b").stdout == "document b: there is no prediction\n"
    assert "   (has no prediction)   " in run(*explain, "--worst", "3", "--format", "table").stdout


def alternatives(gold, system, choice):
    write("gold.jsonl", [{"id": k, "a": a} for k, a in enumerate(gold)])
    write("system.jsonl", [{"id": k, "a": a} for k, a in enumerate(system)])
    Path("choices.json").write_text(json.dumps({"a": choice}))
    return json.loads(score("--choices", "choices.json", "--format", "json").stdout)["metrics"]["records"]["tally"]


def test_alternatives_of_an_inferred_shape_whether_or_not_all_are_lists(folder):
    gold, system = [["x"], ["x", "y"], ["z"]], ["x", "y", None]
    assert alternatives(gold, system, {"any_of": True}) == {"num_p": 2, "den_p": 2, "num_r": 2, "den_r": 3}
    assert alternatives(["x", *gold[1:]], system, {"any_of": True}) == {"num_p": 2, "den_p": 2, "num_r": 2, "den_r": 3}


def test_null_among_the_alternatives_of_the_gold(folder):
    gold, system = [[None, "x"], [None, "x"], "x", None], [None, "x", None, None]
    choice = {"any_of": True, "nothing": ["missing"]}
    assert alternatives(gold, system, choice) == {"num_p": 3, "den_p": 4, "num_r": 3, "den_r": 4}
    Path("choices.json").write_text(json.dumps({"a": {"any_of": True}}))
    assert (
        "null means nothing, so it cannot be one of the alternatives"
        in score("--choices", "choices.json", code=2).stderr
    )
