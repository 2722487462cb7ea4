"""What every format looks like: the inputs from which the search begins. Small, with every feature of the format in them.

The bundled examples are among them; the others are those of the readers' tests, and a few that have what those lack.
"""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from tallystick.judging.questions import Question

TEXT_ABOVE = b"=== the text stands above ===\n"
"""Between the .txt and the .ann of a standoff seed."""


def bundled(name: str) -> bytes:
    """One of the package's examples."""
    return (files("tallystick.examples") / name).read_bytes()


def foreign(*names: str) -> tuple[bytes, ...]:
    """Files that other people's tools wrote, as the readers' tests have them: whole, or as many lines as an input may hold."""
    folder = Path(__file__).parents[1] / "tests" / "files" / "foreign"
    whole = ((folder / name).read_bytes() for name in names)
    return tuple(one if len(one) <= 4096 else one[: one.rindex(b"\n", 0, 4096) + 1] for one in whole)


def lines(*values: Any) -> bytes:
    """JSON Lines."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


# Coreference


def _conll(*cells: str, name: str = "(d1); part 000") -> bytes:
    rows = "".join(f"d1\t0\t{k}\tw{k}\t{cell}\n" for k, cell in enumerate(cells))
    return f"#begin document {name}\n{rows}\n#end document\n".encode()


def _row(number: str, misc: str = "_") -> str:
    return f"{number}\tw\tw\tX\t_\t_\t0\troot\t_\t{misc}\n"


def _rows(*misc: str) -> str:
    return "".join(_row(str(k), one) for k, one in enumerate(misc, 1)) + "\n"


_ENTITY = "# global.Entity = eid-etype-head-other\n# newdoc id = d1\n"

CONLL = (
    _conll("(1", "1)|(2)", "-", "(1)", "(3|(4", "4)", "3)", "(2)"),
    _conll("(1)", "(1)", name="(a); part 000") + _conll("(1|(2)", "-", "1)", name="(b); part 001"),
    b"#begin document x\n0 (1\n1 1)\n2 _\n#end document x\n",
)
COREFUD = tuple(
    text.encode()
    for text in (
        _ENTITY + _rows("Entity=(e1-person-2-(e2--1-)", "SpaceAfter=No|Entity=e1)", "Entity=(e1-person-1-x:y-z)"),
        _ENTITY + _row("1-2") + _row("1", "Entity=(e1") + _row("1.1", "Entity=(e2)") + _row("2", "Entity=e1)"),
        _ENTITY + _rows("Entity=(e1[1/2]--3-", "Entity=e1[1/2])", "_", "Entity=(e1[2/2]--3-)", "Entity=(e1--1-", "_", "Entity=e1)"),
        "# newdoc id = d1\n# global.Entity = entity-GRP-head\n" + _rows("Entity=(person-e1-1)", "Entity=(thing-e2-1)(x-e1-1)"),
    )
)  # fmt: skip
CLUSTERS = (
    lines({"doc_key": "d1", "clusters": [[[3, 3], [7, 8]], [[0, 4], [12, 12]]], "sentences": [["w"] * 9, ["w"] * 9]}),
    lines({"id": "a", "predicted_clusters": [[[[0, 1], [3, 4]], [6, 6]]], "tokens": ["w"] * 8}, {"id": "b", "clusters": []}),
)  # fmt: skip

# Spans

IOB = (
    bundled("spans.gold.iob"),
    bundled("spans.system.iob"),
    b"-DOCSTART- O\n\nEU B-ORG\nsays L-ORG\n\nx U-PER\ny I-PER\nz B-LOC\n\n",
    b"a S-A\nb B-B\nc E-B\n",
)
TOGETHER = (bundled("spans.table1.iob"), b"-DOCSTART- -X- O O\n\nEU NNP B-ORG B-ORG\nrejects VBZ O I-ORG\n")
SPANS_JSONL = (
    lines(
        {"id": "7", "text": "left and right knee", "spans": [
            {"start": 9, "end": 19, "label": "SITE"}, [0, 4, "SIDE"], {"pieces": [[0, 4], [15, 19]], "label": "SITE"}]},
        {"id": "8", "text": "Zoë und Anna 𝔸", "spans": [[0, 3, "PER"], [8, 12, "PER"]]}),
    lines({"tokens": ["a", "b", "c"], "text": "a b c", "spans": [[0, 1, "X"]]}),
)  # fmt: skip
BRAT_SPANS = (
    b"left and\nright knee"
    + TEXT_ABOVE
    + b"T1\tSITE 0 4;15 19\tleft knee\nR1\tIn Arg1:T1 Arg2:T2\nT2\tSITE 5 14\tand right\n#1\tNote T1\tx\n",
    "Zoë, Anna".encode() + TEXT_ABOVE + "T1\tPER 0 3\tZoë\nA1\tNeg T1\n*\tEquiv T1 T1\n".encode(),
)
CONLLU = (
    bundled("dependencies.gold.conllu"),
    bundled("dependencies.system.conllu"),
    b"# newdoc id = a\n# sent_id = 1\n# text = ab c\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\ta\tX\tx\tCase=Nom\t2\tnsubj\t2:nsubj|2.1:obj\t_\n"
    b"2\tb\tb\tVERB\tv\t_\t0\troot\t0:root\t_\n2.1\te\te\tX\t_\t_\t_\t_\t2:conj\t_\n3\tc\tc\tX\tx\t_\t2\tobj:x\t2:obj:x\tSpaceAfter=No\n\n",
)
CONLLU_TAGS = (
    b"# newdoc id = a\n1\tAlice\t_\tPROPN\t_\t_\t_\t_\t_\tner=B-PER\n2-3\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n2\tde\t_\tADP\t_\t_\t_\t_\t_\t"
    b"SpaceAfter=No|ner=O\n3\tle\t_\tDET\t_\t_\t_\t_\t_\tNER=I-LOC\n\n1\tx\t_\tX\t_\t_\t_\t_\t_\t_\n\n",
    bundled("dependencies.gold.conllu"),
)

# Graphs of meaning

PENMAN = (
    b'# ::id a.1 ::snt The boy.\n(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b :ARG4-of (x / "New York") :polarity -))\n',
    b'# AMR release\n\n# ::id 1\n(a / b~e.1\n   :mod (d / e :quant 3.5) :domain-of d)\n\n# ::id 2\n()\n\n(c / d :op1 "x" :op1 "x")\n',
    b'(s1p / publish-91 :ARG1 (s1b / book :wiki - :name (n / name :op1 "A")) :aspect activity :time 12:30)\n',
)
TRIPLES = (
    lines({"id": "s1", "top": "k", "triples": [["k", "instance", "know-01"], ["i", "instance", "i"], ["k", "ARG0", "i"]]},
          {"id": "s2", "variables": ["x", "y"], "triples": [["x", "REF", "y"], ["1", "of", "x"]]}),
    b'# ::id s1\nk instance know-01\ni instance i\nk ARG0 i\nk name "New York"\n\n# ::id s2\nx REF y\n',
    b"instance(k, know-01) ^\ninstance(i, i) ^ ARG0(k, i)\n",
    b"b1 REF x1\nb1 male \"n.02\" x1\nb1 NEGATION b2\nb2 REF e1\nb2 Agent e1 x1\n",
)  # fmt: skip

# Relations

RELATIONS = (
    bundled("relations.gold.jsonl"),
    bundled("relations.system.jsonl"),
    lines({"tokens": ["a", "b", "c"], "entities": [{"type": "A", "start": 0, "end": 1}, {"type": "B", "start": 1, "end": 3}],
           "relations": [{"type": "r", "head": 1, "tail": 0}]}),
    lines({"id": "d", "relations": [{"type": "r", "subj": {"start": 0, "end": 2, "type": "PER", "head": [1, 2], "kind": "name", "entity": "e"},
                                     "obj": [4, 5, "LOC"]}]}),
)  # fmt: skip
BRAT_RELATIONS = (
    b"T1\tPER 0 5\tMarie\nT2\tLOC 9 12;20 26\tNew Mexico\nR1\tborn Arg2:T2 Arg1:T1\n#1\tAnnotatorNotes R1\tsure\nA1\tNeg R1\n*\tEquiv T1 T2\n",
)
DOCRED = json.dumps(
    [{"title": "d", "vertexSet": [[{"name": "Ada"}, {"name": "A."}], [{"name": "Paris"}]], "labels": [{"h": 0, "t": 1, "r": "P1", "evidence": [2]}]}]
).encode()  # fmt: skip
DOCRED_FILES = (
    DOCRED,
    b"[]",
    json.dumps([{"title": "d", "h_idx": 0, "t_idx": 1, "r": "P1", "evidence": [2]}, {"title": "d", "h_idx": 1, "t_idx": 0, "r": "P2"}]).encode(),
    b'[["Ada", "Paris", "P1"]]',
)  # fmt: skip
HEADS = (
    lines(
        *(
            {"id": json.loads(one)["id"], "heads": [1, -1, *[1] * 40], "parser": "p 1"}
            for one in RELATIONS[0].splitlines()
        )
    ),
)
PARENTS = (bundled("events.parents.tsv"), b'{"a": "b", "c": ["b", "d"]}', b"# types\na\tb\nc\tb\nc\td\n")

# Events

TEXTEE = (
    bundled("events.gold.jsonl"),
    bundled("events.system.jsonl"),
    lines({"doc_id": "d", "wnd_id": "d", "trigger": [5, 6, "Attack", "x"], "arguments": [[1, 3, "Agent", "a b"], [1, 1, None, ""]]},
          {"doc_id": "d", "wnd_id": "d", "triggers": [[7, 8, "Die", "y"]]}),
)  # fmt: skip
WIKIEVENTS = (
    lines({"doc_id": "d", "tokens": ["w"] * 9, "sentences": [[[["w", 0, 1]] * 9, "..."]], "entity_mentions": [{"id": "T1", "start": 1, "end": 3}],
           "event_mentions": [{"event_type": "Attack", "trigger": {"start": 5, "end": 6}, "arguments": [{"entity_id": "T1", "role": "Agent"}]}]}),
)  # fmt: skip
OMNIEVENT = (
    lines({"id": "d", "text": "...", "events": [{"type": "Attack", "triggers": [{"trigger_word": "x", "position": [5, 6], "arguments": [
        {"role": "Agent", "mentions": [{"mention": "a b", "position": [1, 3]}]}]}]}]}),
)  # fmt: skip
RAMS = (
    lines({"doc_key": "d", "sentences": [["w"] * 4, ["w"] * 5], "evt_triggers": [[5, 5, [["Attack", 1.0]]]],
           "gold_evt_links": [[[5, 5], [1, 2], "evt001arg01Agent"]]}),
    lines({"doc_key": "d", "predictions": [[[5, 5], [1, 2, "Agent", 0.9]]]}),
)  # fmt: skip
EVENTS = (
    lines({"id": "d", "tokens": ["the", "b", "c", "d", "e", "f", "g"], "sentences": [["the", "b", "c"], ["d", "e", "f", "g"]],
           "events": [{"type": "Attack", "trigger": {"start": 5, "end": 6}, "arguments": [{"role": "Agent", "start": 0, "end": 3, "text": "the b c"}]}]}),
)  # fmt: skip
BRAT_EVENTS = (
    b"T1\tAgent 1 3\ta b\nT2\tAttack 5 6\tx\nT3\tDie 8 9\ty\nE1\tAttack:T2 Agent:T1 Agent2:T3\nE2\tDie:T3 Cause:E1\n",
)
ONTOLOGY = json.dumps(
    {"Attack": {"template": "<arg1> attacked <arg2> using <arg3>", "roles": ["Attacker", "Target", "Instrument"]}}
).encode()
GENERATED_GOLD = lines(
    {"doc_id": "d", "tokens": ["the", "rebels", "and", "the", "army", "attacked", "towns", "with", "mortars", "near", "rebels"],
     "entity_mentions": [], "event_mentions": [{"event_type": "Attack", "trigger": {"start": 5, "end": 6}, "arguments": []}]}
)  # fmt: skip
GENERATED = (
    lines({"doc_key": "d", "predicted": " rebels and army attacked  <arg>  using mortars and tanks", "gold": ""}),
)
EVENT_CLUSTERS = (lines({"doc_key": "d", "clusters": [["T1", [7, 7]], [[1, 2]]]}), bundled("events.coreference.jsonl"))

_TOKENS = ["The", "rebels", "attacked", "Homs", "with", "the", "old", "mortars"]
_EVENT = {"id": "e1", "type": "attack", "trigger": {"start": 2, "end": 3}}
ARGUMENTS = (
    lines({"id": "d", "tokens": _TOKENS, "events": [{**_EVENT, "arguments": [{"role": "place", "start": 3, "end": 4}, {"role": "by", "text": "rebels"}]}]}),
    lines({"id": "d", "tokens": _TOKENS, "events": [_EVENT], "arguments": [{"event": "e1", "role": "with", "text": "mortars and x", "start": 7, "end": 8}]}),
    lines({"id": "d", "events": [{"id": "e1", "type": "attack", "trigger": "attacked", "arguments": [{"role": "place", "text": "Homs"}]}]}),
)  # fmt: skip
_HEADS = (2, 3, 0, 3, 8, 8, 8, 3)
PARSES = (
    b"# newdoc id = d\n"
    + "".join(f"{k}\t{word}\t_\tX\t_\t_\t{head}\t{'root' if not head else 'dep'}\t_\t_\n" for k, (word, head) in enumerate(zip(_TOKENS, _HEADS, strict=True), 1)).encode()
    + b"\n",
)  # fmt: skip

# Roles, N-ary relations, templates

ROLES = (
    bundled("roles.gold.jsonl"),
    lines({"docid": "TST1-MUC3-0001", "extracts": {"PerpInd": [[["rebels", 17]]], "Target": []}}),
    lines({"10001": {"doctext": "...", "pred_extracts": {"PerpInd": [["rebels", {"text": "they", "kind": "pronoun"}]]}}, "2": {"x": [[{"start": 1, "end": 2}]]}}),
)  # fmt: skip
NARY = (
    lines(
        {
            "id": "d",
            "relations": [{"type": "t", "args": {"x": [[0, 1], [4, 6]], "y": [[2, 3]]}}, {"args": {"x": [[0, 1]]}}],
        }
    ),
)
SCIREX = (
    bundled("nary.gold.jsonl"),
    bundled("nary.system.jsonl"),
    lines({"doc_id": "d", "ner": [[0, 2, "Method"], [3, 4, "Task"], [6, 7, "Method"]],
           "coref": {"A": [[0, 2]], "B": [[3, 4]], "a part": [[6, 7]], "other": [[8, 9]]},
           "n_ary_relations": [{"Material": "B", "Metric": "B", "Task": "B", "Method": "A", "score": "1"}],
           "method_subrelations": {"A": [[0, "A"], [1, "a part"]]}}),
    lines({"doc_id": "d", "ner": [[0, 1, "Task"]], "clusters": {"p": [[0, 1]]}, "predicted_relations": [[["p", "q", "p", "p"], 0.9, 1]]}),
)  # fmt: skip
TEMPLATES = (
    lines({"docid": "d1", "doctext": "...", "templates": [
        {"incident_type": "attack", "Victim": [[["the mayor", 3], ["smith", 17]]], "Weapon": [[["bomb", 40]]]}]}),
    lines({"d1": {"doctext": "...", "gold_templates": [], "pred_templates": [{"incident_type": "attack", "Victim": [["the mayor", "smith"]]}]}}),
    lines({"d1": [{"incident_type": "attack", "Weapon": [["bomb"]]}]}),
    lines({"id": "d1", "templates": [{"type": "attack", "slots": {"Victim": [["the mayor", "smith"]], "Weapon": ["bomb"]}}]}),
    lines({"id": "d1", "templates": [{"type": "attack", "fillers": [{"slot": "Victim", "value": {"mentions": ["a", "b"]}}, {"slot": "W", "value": "x"}]}]}),
)  # fmt: skip
MUC4 = (
    b"""0.  MESSAGE: ID                    TST3-MUC4-0001
1.  MESSAGE: TEMPLATE              2 (OPTIONAL)
2.  INCIDENT: DATE                 (- 12 NOV 89) / (30 OCT 89)
3.  INCIDENT: LOCATION             EL SALVADOR: SAN SALVADOR (CITY)
4.  INCIDENT: TYPE                 ATTACK / BOMBING
8.  PERP: INCIDENT CATEGORY        ? TERRORIST ACT
9.  PERP: INDIVIDUAL ID            "CRIMINALS" / "MEMBERS OF \\"X: Y / Z\\""
                                   "GERARDO OLIVOS"
18. HUM TGT: NAME                  -
19. HUM TGT: DESCRIPTION           ? "MINISTER": "ENRIQUE LOPEZ"
                                   "A GUARD"
20. HUM TGT: TYPE                  CIVILIAN: "-"
21. HUM TGT: NUMBER                2 / 3: "A GUARD"

0.  MESSAGE: ID                    TST3-MUC4-0002
1.  MESSAGE: TEMPLATE              *
2.  INCIDENT: DATE                 *
""",
    b'{"one": {"responses": [{"message-id": ["A"], "template-id": ["1"], "inc-type": ["ATTACK"]}], "official_pairs": [{"doc": "A", "key": "1", "response": "1"}]}}',
)
JUDGEMENTS = (
    b"""(("M1" ("1" (inc-date ((range nil "1 FEB 88") fail) ("4 MAY 88" partial (range nil "4 MAY 88")))
      ; a comment
      (perp-org-id ("\\"ELN\\"" match (or "\\"ELN\\"" "\\"ARMY\\""))))))""",
)

# Hierarchies

NEWICK = (
    b"lima\t({E6,E7}(E8(E9))(E11))\n",
    b"x\tsubevent\t(1(2)) (3)\nx\tmembership\t(1) (2) (3(1))\n# comment\n",
    bundled("table1.gold.newick"),
)
HIERARCHIES = (
    lines({"id": "lima", "events": ["E6", "E7", "E8", "E9", "E11"], "coreference": [["E6", "E7"]],
           "links": {"subevent": [["E7", "E8"], ["E8", "E9"], ["E6", "E11"]], "membership": []}}),
    lines({"id": "a", "events": [{"id": "E1", "span": [10, 16]}, {"id": "E2", "span": [20, 27]}], "links": {"subevent": [["E1", "E2"]]}}),
)  # fmt: skip
BRAT_HIERARCHIES = (
    b"T1\tAttack 10 16\tattack\nT2\tAttack 20 27\tbombing\nT3\tDestroy 30 39\tdestroyed\nT4\tInjure 40 48;50 52\twounding\n"
    b"E1\tAttack:T1\nE2\tAttack:T2\nE3\tDestroy:T3\nE4\tInjure:T4 Place:T1\nR1\tSubevent Arg1:E1 Arg2:E3\nR2\tSubSuper Arg1:E4 Arg2:E3\n"
    b"R3\tBefore Arg1:E1 Arg2:E4\n*\tCoreference E1 E2\n#1\tAnnotatorNotes E1\tsure\n",
)

# Records

RECORDS = (
    bundled("invoices.gold.jsonl"),
    lines({"id": 1, "a": None, "b": [[0, 3], [4, 9]], "c": {"x": 1.5, "y": [True, None]}, "d": "2020-01-02"}, {"id": 2, "a": "t", "b": [], "c": {}}),
    lines([1, 2], ["a", {"b": 3}]),
    lines("text", 1, None, 2.5, True),
)  # fmt: skip
RECORDS_JSON = (
    json.dumps([{"a": 1, "b": ["x"]}, {"a": 2, "b": []}]).encode(),
    b'{"a": {"b": {"c": [1, 2]}}}',
    b'{"a": 1}\n{"a": 2}\n',
)
ANSWERS = (bundled("answers.small.jsonl"), bundled("answers.large.jsonl"))
NOISY = (
    b'```json\n{"a": 1, "b": ["x", "y"]}\n```',
    b'Sure!\n```json\n{"a": 1, "b": ["x", "y",],}\n```\nAnything else?',
    b'I used {placeholders} first: {"a": 1, "b": ["x", "y"]}',
    b"{'a': 1, 'b': ['x', 'y'",
    b'{"a": True, b: "x\\"y", /* no */ "c": 1.5e3,}',
)
SCHEMA_DATA = lines({"a": "x", "b": [1, 2], "c": {"d": "2020-01-01", "e": None}})
SCHEMAS = (
    json.dumps({
        "type": "object", "title": "T", "required": ["a", "b"],
        "properties": {
            "a": {"type": "string", "x-tallystick": {"text": "jaro", "weight": 2}},
            "b": {"type": "array", "items": {"$ref": "#/$defs/n"}, "x-tallystick": "ordered"},
            "c": {"allOf": [{"type": "object", "properties": {"d": {"type": "string", "format": "date"}}}, {"$ref": "#/$defs/m"}]}},
        "$defs": {"n": {"type": ["integer", "null"]}, "m": {"properties": {"e": {"enum": ["x", None, 2]}}}}}).encode(),
    json.dumps({"type": "object", "properties": {"a": {"const": "x"}, "b": {"prefixItems": [{"type": "integer"}, {"type": "number"}]},
                "c": {"anyOf": [{"type": "object", "additionalProperties": {"type": ["string", "null"]}}, {"type": "boolean"}]}}}).encode(),
    json.dumps({"type": "object", "properties": {"a": {"type": "string"}, "t": {"$ref": "#/$defs/N"}}, "$defs": {
        "N": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/N"}}}}}}).encode(),
)  # fmt: skip
CHOICES = (
    b"vendor: {text: [levenshtein, casefold]}\nlines[*].price: {number: {relative: 0.01}, weight: 2}\nlines: {key: sku}\n"
    b"lines[*].tags: distinct\ndate: {date: {days: 2}}\ntotal: ignore\n",
    b'{"vendor": {"aliases": {"ACME": ["Acme Ltd", "acme"]}}, "lines[*].description": {"text": "jaro", "at_least": 0.8}, "lines": {"match": "N:1"}}',
    b'{"lines[*].tags": {"list": "ordered"}, "total": {"number": {"absolute": 0.5, "relative": 0.1}, "weight": 3}, "date": {"date": {"days": 2}}}',
    b'{"vendor": {"any_of": false, "text": ["jaro", "casefold"], "above": 0.5, "keep": true}, "lines[*]": {"credit": "all"}, "lines": {"key": ["sku"], "match": "1:1"}}',
    b"vendor: {hierarchy: {a: b}}\nlines[*]: {credit: all}\ndate: {nothing: [missing, 'null', empty]}\nlines[*].sku: {expression: 'text(\"jaro\")'}\n",
)
EXPRESSIONS = (
    b"f1(match(record(type=exact, subj=exact, obj=exact), 1:1))",
    b'f1(each(vendor=exact, lines=match(each(sku=exact, description=text("levenshtein"), quantity=number(relative=0.1)), 1:1)))',
    b"f1(each(root=let(Node, each(label=exact, children=match(Node, 1:1)))))",
    b'jaccard(match(keyed(each(a=exact, b=optional(exact)), "a"), N:1, distinct=True))',
    b'f1(match(cases(str=exact, A2=each(b=weighted(at_least(text("jaro"), 0.8), 3.0)))))',
    b'f1(sequence(aliases({"US$": "USD"})))',
    b'f(match(any_of(subtypes({"dog": "animal"}))), beta=2)',
    b"sides(precision=match(exact, N:1), recall=match(exact, 1:N))",
    b"f1(latent(record(a=var, b=exact)))",
)
FIGURES = (
    b"system,metric,value\nA,b3,0.7\nB,b3,0.6\nA,muc,0.8\nB,muc,0.9\n",
    b'system,metric,run,value\nA,f1,1,0.7\nA,f1,2,0.72\nB,f1,1,0.5\nB,f1,2,"0.4"\n',
)
CALLS = tuple(
    bundled(f"calls.{name}.jsonl")[:4096].rpartition(b"\n")[0] for name in ("gold", "openai", "anthropic", "mcp")
)

# Formats of other people's tools, some of which several tasks read

SPANS_IN_JSON = foreign("doccano.gold.jsonl", "prodigy.gold.jsonl", "spert.gold.json", "gliner_data.gold.json", "labelstudio.gold.json",
                        "labelstudio_min.gold.json", "gliner.gold.jsonl", "own.iob.gold.jsonl")  # fmt: skip
RELATIONS_IN_JSON = foreign(
    "doccano_relations.gold.jsonl", "prodigy.gold.jsonl", "spert.gold.json", "labelstudio.gold.json"
)
DYGIE = foreign("dygie.jsonl")
PROPOSITIONS = foreign("srl.gold.conll", "srl.gold.props")
SPACY = foreign("docs.gold.spacy")
PARQUET = foreign("rows.gold.parquet")
ARROW = foreign("rows_gold/data-00000-of-00001.arrow")
HIPE = (
    b"TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\tNE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC\n"
    b"# document_id = d1\nIn\tO\tO\tO\tO\tO\tO\t_\t_\t_\nNew\tB-loc\tO\tB-loc.adm.town\tO\tO\tO\tQ60\t_\tNoSpaceAfter\n"
    b"York\tI-loc\tO\tI-loc.adm.town\tO\tO\tO\tQ60\t_\tEndOfSentence\n",
)

# Judges

QUESTION = Question("Lazar", ("he", "the man"), "Then Lazar said that he would.", "say", "said", "speaker")
JUDGED = (
    lines(
        {
            **QUESTION.to_json(),
            "judge": "anna",
            "valid": True,
            "same_as": [0],
            "relation": "conveys",
            "when": "2026-01-01",
        }
    ),
    lines({"key": QUESTION.key, "label": "Correct", "same_as": [1]}, {"reference": "THE MAIDS", "candidate": "MAIDS"}),
)
LABEL_STUDIO = (
    json.dumps([{"id": 1, "data": {"key": QUESTION.key}, "annotations": [{"completed_by": {"email": "a@b.org"}, "was_cancelled": False, "result": [
        {"from_name": "valid", "type": "choices", "value": {"choices": ["Yes"]}}, {"from_name": "same_as", "value": {"choices": ["Yes, he"]}},
        {"from_name": "remark", "value": {"text": ["sure"]}}], "updated_at": "2026-01-01"}]}]).encode(),
    json.dumps([{"id": 2, "key": QUESTION.key, "valid": "Yes", "annotator": 1, "same_as": {"choices": ["Yes, he", "Yes, the man"]}}]).encode(),
)  # fmt: skip
LABELLED = (
    lines(
        {"candidate": "Lazar", "references": ["he", "the man"], "label": "Correct", "role": "speaker"},
        {"candidate": "x", "reference": "y", "label": "Incorrect"},
    ),
)
GZIP = tuple(gzip.compress(one, mtime=0) for one in RECORDS)
