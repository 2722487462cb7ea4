"""JSON Schema as a type: what is understood, and errors that name their pointer."""

import json

import msgspec
import pytest

import tallystick as ts
from tallystick.errors import DerivationError, InputError
from tallystick.files.json_values import read_data
from tallystick.tasks.records.schema import type_of_schema


def metric(schema, credit="each"):
    return str(ts.derive(type_of_schema(schema), credit=credit)).removeprefix("f1(").removesuffix(")")


def thing(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ({"type": "string"}, "exact"),
        ({"type": ["string", "null"]}, "optional(exact)"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "optional(exact)"),
        ({"enum": ["a", "b"]}, "exact"),
        ({"enum": ["a", None]}, "optional(exact)"),
        ({"enum": [1, 2.5, True]}, "exact"),
        ({"const": "x"}, "exact"),
        ({"type": "string", "format": "date"}, "exact"),
        ({"type": "string", "format": "date-time"}, "exact"),
        ({"type": "string", "format": "email"}, "exact"),
        ({"type": "array", "items": {"type": "number"}}, "match(exact, 1:1)"),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, "match(exact, 1:1)"),
        ({"prefixItems": [{"type": "integer"}, {"type": "string"}]}, "each(0=exact, 1=exact)"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "match(record(key=exact, value=exact), 1:1)"),
        (thing(b={"type": "string"}), "each(b=exact)"),
        ({"allOf": [thing(b={"type": "string"}), thing(c={"type": "integer"})]}, "each(b=exact, c=exact)"),
        ({"oneOf": [{"type": "string"}, thing(b={"type": "integer"})]}, "cases(str=exact, A2=each(b=exact))"),
        ({"type": "string", "x-tallystick": {"text": "jaro"}}, 'text("jaro")'),
        ({"type": "number", "x-tallystick": {"number": {"relative": 0.1}, "weight": 3}}, "weighted(number(relative=0.1), 3.0)"),
        ({"type": "string", "format": "date", "x-tallystick": {"date": {"days": 2}}}, "date(days=2.0)"),
        ({"type": "string", "x-tallystick": {"any_of": True}}, "any_of(exact)"),
        ({"type": "string", "x-tallystick": {"aliases": {"USD": ["US$", "dollar"]}}}, 'aliases({"US$": "USD", "dollar": "USD"})'),
        ({"type": "string", "x-tallystick": {"hierarchy": {"dog": "animal"}}}, 'subtypes({"dog": "animal"})'),
        ({"type": "string", "x-tallystick": {"text": "jaro", "at_least": 0.8}}, 'at_least(text("jaro"), 0.8)'),
        ({"type": "string", "x-tallystick": {"nothing": ["missing", "null", "empty"]}}, "optional(exact, empty=True)"),
        ({"type": "string", "x-tallystick": {"nothing": ["missing"]}}, "optional(exact, null=True)"),
        ({"type": "array", "items": {"type": "string"}, "x-tallystick": "ordered"}, "sequence(exact)"),
        ({"type": "array", "items": {"type": "string"}, "x-tallystick": {"match": "N:1", "list": "distinct"}}, "match(exact, N:1, distinct=True)"),
        ({"type": "array", "items": thing(k={"type": "string"}), "x-tallystick": {"key": "k"}}, 'match(keyed(each(k=exact), "k"), 1:1)'),
        ({**thing(b={"type": "string"}, c={"type": "string"}), "x-tallystick": {"credit": "all"}}, "record(b=exact, c=exact)"),
    ],
)  # fmt: skip
def test_what_a_schema_becomes(inner, expected):
    schema = thing(a=inner, z={"type": "boolean"})
    assert metric(schema) == f"each(a={expected}, z=exact)"
    assert str(ts.parse(f"f1({metric(schema)})")) == f"f1({metric(schema)})"


def test_referenced_objects_may_have_choices_of_their_own():
    whole = {"x-tallystick": {"credit": "all"}}
    schema = {
        **thing(a={"$ref": "#/$defs/A"}, b={"$ref": "#/$defs/B"}),
        "$defs": {"A": {**thing(x={"type": "string"}), **whole}, "B": {**thing(y={"type": "integer"}), **whole}},
    }
    assert metric(schema) == "each(a=record(x=exact), b=record(y=exact))"


def test_references_and_schemas_that_contain_themselves():
    schema = {
        **thing(root={"$ref": "#/$defs/Node"}),
        "$defs": {
            "Node": thing(label={"type": "string"}, children={"type": "array", "items": {"$ref": "#/$defs/Node"}})
        },
    }
    type_ = type_of_schema(schema)
    assert metric(schema) == "each(root=let(Node, each(label=exact, children=match(Node, 1:1))))"
    text = b'{"root": {"label": "a", "children": [{"label": "b", "children": []}]}}'
    document = msgspec.json.decode(text, type=type_)
    result = ts.evaluate(ts.derive(type_, credit="each"), [document], [document])
    assert result.tally["num_p"] == 2


def test_what_is_not_required_may_be_missing():
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]}
    assert metric(schema) == "each(a=exact, b=optional(exact))"
    assert msgspec.json.decode(b'{"a": "x"}', type=type_of_schema(schema)) == {"a": "x"}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (thing(a={"type": "strng"}), r"at #/properties/a/type: unknown type 'strng'.*Did you mean \"string\""),
        (thing(a={}), r"at #/properties/a: says nothing about the value"),
        (thing(a={"type": "array"}), r"at #/properties/a: an array that does not say what is in it"),
        (thing(a={"type": "object"}), r"at #/properties/a: an object that does not say what is in it"),
        (thing(a={"$ref": "#/$defs/Lin"}) | {"$defs": {"Line": {}}}, r"at #/properties/a/\$ref: .*no 'Lin'.*\"Line\""),
        (thing(a={"$ref": "other.json"}), r"at #/properties/a/\$ref: 'other.json' lies outside"),
        (thing(a={"type": "string", "x-talystick": "ignore"}), r"at #/properties/a/x-talystick: .*Did you mean \"x-tallystick\""),
        (thing(a={"type": "string", "x-tallystick": {"txt": "jaro"}}), r"at #/properties/a/x-tallystick: unknown choice 'txt'.*\"text\""),
        (thing(a={"type": "string", "x-tallystick": {"text": "jaroo"}}), r"at #/properties/a/x-tallystick: .*'jaroo'.*\"jaro\""),
        (thing(a={"type": "string", "x-tallystick": "ignor"}), r"at #/properties/a/x-tallystick: .*\"ignore\""),
        (thing(a={"type": "number", "x-tallystick": {"number": {"relativ": 1}}}), r"x-tallystick: unknown option 'relativ'"),
        (thing(a={"type": "number", "x-tallystick": {"weight": -1}}), r"x-tallystick: a weight must be above 0"),
        (thing(a={"type": "string", "x-tallystick": {"text": "jaro", "exact": True}}), r"cannot both be chosen"),
        ({**thing(a={"type": "string"}), "required": ["b"]}, r"at #/required: names 'b', which is not a property"),
        (thing(a={"anyOf": []}), r"at #/properties/a/anyOf: expected a list of schemas"),
        (thing(a=3), r"at #/properties/a: expected a schema"),
        ({**thing(a={"$ref": "#/$defs/L"}), "$defs": {"L": {"type": "array", "items": {"$ref": "#/$defs/L"}}}}, "refers to itself without an object"),
    ],
)  # fmt: skip
def test_errors_name_their_pointer(schema, message):
    with pytest.raises(InputError, match=message):
        ts.derive(type_of_schema(schema, "invoice.schema.json"))


def test_files_that_are_no_json_or_yaml(tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text('{"type": "object",\n "properties": {,}}')
    with pytest.raises(InputError, match=r"bad\.json:2:17: is not JSON"):
        read_data(bad)
    bad.write_text('{"a": 1, "a": 2}')
    with pytest.raises(InputError, match="has the key 'a' twice"):
        read_data(bad)
    pytest.importorskip("yaml")
    yaml = tmp_path / "bad.yaml"
    yaml.write_text("a: [1, 2\nb: 3\n")
    with pytest.raises(InputError, match=r"bad\.yaml:2"):
        read_data(yaml)


def test_choices_by_path_override_part_by_part():
    schema = thing(
        a={"type": "string", "x-tallystick": {"text": "jaro"}}, b={"type": "string", "x-tallystick": "ignore"}
    )
    type_ = type_of_schema(schema)
    assert (
        str(ts.derive(type_, {"a": {"weight": 2}, "b": "exact"}, credit="each"))
        == 'f1(each(a=weighted(text("jaro"), 2.0), b=exact))'
    )
    with pytest.raises(
        DerivationError, match=r"at x\[\*\]\.a: a weight has no meaning inside an all-or-nothing record"
    ):
        ts.derive(type_of_schema(thing(x={"type": "array", "items": schema})), {"x[*].a": {"weight": 2}})


def test_a_threshold_on_items_keeps_those_apart_that_share_too_little():
    line = thing(sku={"type": "string"}, n={"type": "integer"}, price={"type": "number"})
    schema = thing(lines={"type": "array", "items": {**line, "x-tallystick": {"at_least": 0.6}}})
    found = ts.derive(type_of_schema(schema), credit="each")
    assert "at_least(each(sku=exact, n=exact, price=exact), 0.6, keep=True, share=True)" in str(found)
    assert ts.parse(str(found)) == found
    gold = {"lines": [{"sku": "a", "n": 1, "price": 1.0}, {"sku": "b", "n": 2, "price": 2.0}]}
    system = {"lines": [{"sku": "a", "n": 1, "price": 9.0}, {"sku": "x", "n": 2, "price": 7.0}]}
    result = ts.evaluate(found, [gold], [system])
    assert result.tally == {"num_p": 2, "den_p": 6, "num_r": 2, "den_r": 6}
    rows = {row.path: row for row in result.by_field()}
    assert (rows["lines[*].n"].tally["num_p"], rows["lines[*].n"].missing, rows["lines[*].n"].extra) == (1, 1, 1)
    assert sum(row.tally["num_p"] for row in rows.values()) == 2


def test_the_schema_of_a_pydantic_model_gives_the_metric_of_the_model():
    import pydantic

    class Line(pydantic.BaseModel):
        sku: str
        tags: set[str] = set()
        price: float | None = None

    class Order(pydantic.BaseModel):
        lines: list[Line]
        ship: dict[str, int]

    schema = json.loads(json.dumps(Order.model_json_schema()))
    mine = metric(schema)
    assert (
        mine
        == "each(lines=match(each(sku=exact, tags=optional(match(exact, 1:1)), price=optional(exact)), 1:1), ship=match(record(key=exact, value=exact), 1:1))"
    )
