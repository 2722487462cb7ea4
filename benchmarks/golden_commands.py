"""What the golden run asks: command lines, the files that their options name, and expressions.

In a table of commands every line is the end of a command, and {a|b} stands for one of a and b.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Iterator

from benchmarks import golden_data as data

SCORE = """

--by {label|field|document}
--macro --by document --rows 3
--undefined {none|0|1}
--shard 2KB --by document
"""
SCORE_ONCE = """
--jobs 1 --shard 2KB
--state out.state --shard 2KB --macro
--errors
--fail-under f1={0.01|0.999}
--tallies out.csv
--format {table|tsv|markdown|latex}
--by {label|field} --shard 1KB
--report out.html --report-documents 2
"""
COMPARE = """
--correlations --differences
--interval {percentile|bca} --differences
--test {bootstrap|randomisation} --differences
--level 0.8 --seed 7 --interval bca
--missing {error|empty|intersect}
--macro --ties {mean|order} --correlations
--format {table|markdown}
"""
EXPLAIN = "\n--document d3\n--document d0 --format tree\n--document nowhere\n"
NEEDED = {
    "spans/tokens.jsonl": "--offsets tokens", "spans/bilou.txt": "--scheme bilou", "spans/odd.txt": "--suffix --delimiter _ --separator '\t' --comment '#'", "amr/triples.txt": "--input triples",
    "events/generated.jsonl": "--ontology ontology.json", "records/raw.jsonl": "--from output --lenient",
}  # fmt: skip
"""Options without which a format is not read."""
SIMILAR = "--parents parents.tsv --hierarchy {ancestor|descendant|levels|supertypes}\n--parents parents.tsv\n--hierarchy levels\n"
KIND = "--informativity name=1,nominal=0.5,pronoun=0.25\n"
CHOICES = {
    "spans": """
        --metric {segment|ts|token|overlap|contain|iou|segment_units|strict|exact|partial|type|semeval|nervaluate} --by label
        --average {micro|macro|weighted}
        --scheme {iob1|iob2|ioe1|ioe2|iobes|bilou} --{strict|lenient}
        --partner {any|one-to-one} --metric overlap --metric contain --metric iou
        --metric constrained_overlap --k1 1 --k2 {0|1} --partner {any|one-to-one}
        --metric iou --iou {0.3|0.7}
        --tag PER --tag LOC --tag NONE
        --supertag ENTITY --supertag PLACE=LOC,ORG.CO --by label
        --ignore-types\n--separators {0|0.5}\n--beta {0.5|2}\n--distinct\n--ignore-tokens\n--errors --repairs --strict\n--seqeval --digits 4
        --reference-column {3|1}\n--predicted-column 3\n--token-column 1\n--weight-column 2\n--delimiter .\n--suffix\n--comment Ada\n--separator X
        --input {columns|jsonl|brat|conllu}""",
    "coreference": """
        --metric {mentions|muc|b3|ceaf_m|ceaf_e|blanc|lea|conll|b3_all|b3_0|b3_rahman_ng} --by document
        --metric {ceaf_m_rahman_ng|ceaf_e_rahman_ng|b3_cai_strube|ceaf_m_cai_strube} --macro
        --scope {document|topic|corpus}\n--scope topic --topic {d.|d}\n--mentions {exact|head|partial}\n--drop-singletons\n--compat reference\n--strict""",
    "dependencies": """
        --metric {tokens|sentences|words|upos|xpos|ufeats|alltags|lemmas|uas|las|clas|mlas|blex|elas|eulas} --by document
        --unit {auto|document|sentence} --macro\n--several-roots""",
    "relations": """
        --metric {strict|boundaries|relaxed|pair|type} --by label\n--metric head --heads {first|last|heads.jsonl}
        --symmetric spouse\n--symmetric spouse --symmetric born_in --heads last\n--train train.json\n""" + SIMILAR + KIND,
    "events": """
        --metric {tri_i|tri_c|trig_f1|arg_f1|gen_arg_i|gen_arg_c} --by document
        --metric {arg_i|arg_c|arg_i+|arg_c+|arg_u|arg_u+|rams} --by label
        --metric arg_c+ --metric rams --by label --label {role|event|distance}
        --metric {tri_c|trig_f1|arg_f1} --by label --label type
        --coreference coreference.jsonl\n--coreference coreference.jsonl --heads {first|last|heads.jsonl} --strip-articles
        --metric {arg_i_head|arg_c_head|gen_arg_i_head|gen_arg_c_head} --heads last
        --metric {arg_i_coref|arg_c_coref|gen_arg_i_coref|gen_arg_c_coref|gen_arg_c_head_coref} --coreference coreference.jsonl --heads last
        --strip-articles\n--ontology ontology.json\n""" + SIMILAR + KIND,
    "arguments": """
        --metric {exact|same_text|harmless_tokens|break_aggregate} --by label
        --parses parses.conllu --by label\n--parses parses.conllu --modifiers amod,det\n--counting {rewrite|keep} --order {break-first|aggregate-first}
        --duplicates {merge|keep}\n--pronouns they,rebels\n--harmless the,cars\n--conjunctions and,the\n--strip-articles\n--tokens arguments/plain.gold.jsonl
        --judge judged.sqlite --partial {0|0.5|1} --counting {rewrite|keep}\n--judge judged.sqlite?judge=ben --none-credits-recall --parses parses.conllu""",
    "roles": """
        --metric {ceaf_ree|ree_phi3|ree_phi4|rme_subset|rme_subset_literal|rme_phi3|rme_phi3_covered|mentions|grit_strict|grit_prop} --by label
        --strings {grit|exact}\n""" + SIMILAR + KIND,
    "nary": "--metric {clusters|n2|n4|scirex_clusters|scirex_n2|scirex_n4} --by label\n" + SIMILAR,
    "templates": """
        --metric {eq32|gtt|iterx_subset|iterx_phi3|eq32_fillers|chen_subset|chen_phi3|iterx_subset_quirks|iterx_phi3_quirks|granular} --by document
        --preset {du|gtt|chen|iterx|iterx-quirks|better|muc4-official} --by {field|document}
        --fillers {subset|any|phi3|phi4|words|record(mentions=best(exact))} --metric eq32 --metric eq32_fillers --metric granular\n--errors""",
    "hierarchies": """
        --metric {mentions|muc_p|blanc_p|nstm_p|siblings_p|ceaf_p|ceaf_stm} --by document
        --kind {subevent|membership}\n--kind subevent --kind membership --metric muc_p\n--transitive""",
    "amr": """
        --metric {smatch|unlabelled|no_word_senses|concepts|named_entities|negation|wikification|reentrancies|semantic_roles} --by document
        --preset {tallystick|smatch|smatchpp|smatchpp-amr} --subscores\n--root {none|constant|concept}\n--duplicates {multiset|removed|product}
        --mod {domain|canonical|mod|keep}\n--input {auto|penman|triples}\n--lenient\n--limit 60""",
    "records": """
        --type shapes.py:Invoice --credit {each|all} --by field\n--schema schema.json\n--choices choices.yaml --by field\n--credit {each|all}
        --nothing {missing|null|empty|missing,null,empty}\n--id id\n--from output --lenient --worst 3\n--unknown {count|ignore}\n--lenient\n--worst 2
        --describe\n--save-schema out.json\n--by label --label items[*].type\n--field items[*].price\n--type shapes.py:Invoice --choices choices.yaml
        --metric 'f1(each(items=match(each(name=text("levenshtein"),price=number(0.2)))))'
        --metric 'f1(each(items=match(record(type=exact, name=text("token_sort"), price=number(relative=0.3)), N:1)))' --by field""",
}  # fmt: skip
MORE = """
score spans spans/both.txt --together --{seqeval|errors}
score spans spans/characters.gold.jsonl spans/characters.a.jsonl --tokenizer {words|blanks|characters} --boundaries {error|expand|contract}
score spans spans/tokens.gold.jsonl spans/tokens.b.jsonl --offsets {tokens|characters} --spans-field {spans|other}
score spans spans/tags.gold.conllu spans/tags.a.conllu --misc {ner|other}
score spans spans/bilou.gold.txt spans/bilou.a.txt --scheme bilou --{strict|lenient} --errors --repairs
score coreference coreference/corefud.gold.conllu coreference/corefud.b.conllu --mentions {head|partial} --drop-singletons
score coreference coreference/corefud.gold.conllu coreference/clusters.a.jsonl
score relations relations/docred.gold.json relations/docred.{a|b}.json --train train.json --by label
explain relations relations/docred.gold.json relations/docred.a.json --metric {facts|evidence}
{score|explain} events events/rams.gold.jsonlines events/rams.a.jsonlines --metric rams
score events events/rams.gold.jsonlines events/rams.b.jsonlines --metric rams --by label --label {distance|role}
{score|explain|compare} events events/generated.gold.jsonl events/generated.a.jsonl --ontology ontology.json
score arguments events/generated.gold.jsonl events/generated.a.jsonl --ontology ontology.json --strip-articles
score arguments arguments/textee.gold.jsonl arguments/textee.a.jsonl --tokens arguments/plain.gold.jsonl --parses parses.conllu
score nary nary/part-relations.gold.jsonl nary/part-relations.a.jsonl --ner nary/part-ner.a.jsonl --clusters nary/part-clusters.a.jsonl
compare nary nary/part-relations.gold.jsonl A=nary/part-relations.a.jsonl --ner A=nary/part-ner.a.jsonl --clusters A=nary/part-clusters.a.jsonl --resamples 99
score templates templates/muc4.gold.txt templates/muc4.a.txt --preset muc4-official --mapping {greedy|recorded} --by {field|document}
score templates templates/muc4.gold.txt templates/muc4.a.txt --preset muc4-official --judgements history.lisp
judge export templates/muc4.gold.txt templates/muc4.a.txt --task muc4 --store muc4.sqlite --jsonl out.jsonl
score templates templates/muc4.gold.txt templates/muc4.b.txt --preset muc4-official --judge muc4.sqlite
score records records/raw.gold.jsonl records/raw.{a|b}.jsonl --from output --lenient --by {field|document} --worst 3 --unknown {count|ignore}
explain records records/plain.gold.jsonl records/plain.b.jsonl --worst 3 --format {tree|table|tsv|json}
score hierarchies hierarchies/links.gold.jsonl hierarchies/links.{a|b}.jsonl --kind {subevent|membership} --transitive
explain hierarchies hierarchies/links.gold.jsonl hierarchies/links.b.jsonl --kind {subevent|membership}
explain records records/plain.gold.jsonl records/plain.b.jsonl --field items[*].{price|name|tags} --schema schema.json
compare {spans|coreference|records} gold.any A=a.any,b.any B=b.any,a.any --resamples 99 --differences
compare figures figures.csv --ties {mean|order} --ascending --mean m=x,y
compare figures figures.csv --digits 1 --truncate --{correlations|no-correlations}
check coreference.{mentions|muc|b3|ceaf_m|ceaf_e|blanc|lea|conll|b3_all|b3_rahman_ng|ceaf_m_cai_strube} --samples 2
check hierarchies.{muc_p|blanc_p|nstm_p|siblings_p|ceaf_p|ceaf_stm} --samples 2 --seed 5
check {nary.clusters|nary.n2|relations.strict|relations.relaxed|relations.head|dependencies.las|dependencies.mlas|dependencies.blex} --samples 2
check equations.{rel_f1|uas|trig_f1|arg_f1|ceaf_phi3|ceaf_phi4|muc|b3|ceaf_ree|ceaf_rme_phi3|scirex_f1|muc4_f1|granular_types} --samples 2
check roles.{ceaf_ree|ree_phi4|rme_subset_literal|rme_phi3_covered|grit_prop} --samples 2
check --type shapes.py:Names {--credit=each|f1(match(exact,N:1))|--only=P4|--multiple=3|--require=P1} --samples 3
check --function shapes.py:share --type shapes.py:Names --samples 3 {--corpus|--figure=f1}
check hierarchies.muc_p hierarchies.nstm_p --data hierarchies/forests.gold.newick
list {all|tasks|similarities|formats}
judge agreement judged.sqlite {anna ben|--differences}
judge judges judged.sqlite
demo
"""
REAL = """
score spans @spans/wnut17/emerging.test.annotated @spans/wnut17/submissions/{uh_ritual|arcada|drexel_cci} --by label --errors
score spans @spans/wnut17/emerging.test.annotated @spans/wnut17/submissions/flytxt --metric nervaluate --metric overlap --metric iou --macro
compare spans @spans/wnut17/emerging.test.annotated A=@spans/wnut17/submissions/arcada B=@spans/wnut17/submissions/flytxt --resamples 200 --correlations
score coreference @coreference/litbank.key.gz @coreference/litbank.response.gz {--by=document|--errors|--drop-singletons|--compat=reference}
score coreference @coreference/ecb_events.key.gz @coreference/ecb_events.response.gz --scope {document|topic|corpus}
compare coreference @coreference/litbank.key.gz L=@coreference/litbank.response.gz --resamples 200 --interval bca
score amr @meaning/little_prince.gold.amr.gz @meaning/little_prince.jamr.amr.gz --preset {tallystick|smatch|smatchpp|smatchpp-amr} --by document
score amr @meaning/amr3.bart.amr.gz @meaning/amr3.t5.amr.gz --subscores
score events @events/wikievents/test.jsonl @events/wikievents/test_info.jsonl
score events real/textee_wikievents_eae.gold real/textee_wikievents_eae.pred
score events real/textee_wikievents_e2e_perturbed.gold real/textee_wikievents_e2e_perturbed.pred --by document
score events real/wikievents.gold real/textee_wikievents_eae.pred --coreference real/wikievents.coref --strip-articles --heads last
score arguments real/wikievents.gold real/textee_wikievents_eae.pred --strip-articles --counting {rewrite|keep} --by label
score roles real/grit.gold real/grit.{preds_s_t|preds_s_t_no_offset_constraint} --by {label|document}
score nary real/scirex.gold real/scirex.pred --by document
score templates real/gtt.gold real/gtt.{gtt|dygie|ge|nyu|sri|umass|iterx-bart-base|iterx-t5-large-enc} --preset {gtt|du|chen|iterx|iterx-quirks|better} --by {field|document}
score templates real/gtt.gold real/gtt.{gtt|nyu} --errors
compare templates real/gtt.gold A=real/gtt.gtt B=real/gtt.dygie C=real/gtt.nyu --resamples 200 --correlations --differences
score templates @events/muc4_official/keys.json#tst3 real/muc4.{ge|lsi|nyu} --preset muc4-official --mapping {greedy|recorded}
score templates @events/muc4_official/keys.json#tst3 real/muc4.{ge|sra} --preset muc4-official --judgements @events/muc4_official/judgements.tst3.lisp.gz
explain coreference @coreference/litbank.key.gz @coreference/litbank.response.gz
compare templates @events/muc4_official/keys.json#tst4 A=@events/muc4_official/systems.json.gz#tst4/ge --preset muc4-official --resamples 99
explain roles real/grit.gold real/grit.preds_s_t
explain nary real/scirex.gold real/scirex.pred
explain templates real/gtt.gold real/gtt.{sri|ge}
explain amr @meaning/amr3.bart.amr.gz @meaning/amr3.t5.amr.gz
"""
HELPERS = {
    "parents.tsv": "Life.Die\tLife\nLife.Injure\tLife\nborn_in\trelated\nspouse\trelated\nAgent\tRole\nTarget\tRole\nTask\tThing\nMethod\tThing\n",
    "ontology.json": json.dumps({t: {"template": "<arg1> hit <arg2> at <arg3> place", "roles": data.ROLES} for t in data.EVENTS[1:]}),
    "history.lisp": r'(("TST3-MUC4-0001" ("1" (perp-ind-id ("\"THE\"" match "\"ADA\"") ("\"CARS\"" partial "\"BOMB\"")))))',
    "choices.yaml": "items[*].price: {number: {absolute: 1.0}, weight: 2}\nitems: {key: type}\ntitle: {text: [levenshtein, casefold]}\ndate: {date: {days: 2}}\n",
    "figures.csv": "task,system,metric,value\n" + "".join(f"{t},{s},{m},{len(t) * ord(s) % 7 + ord(m) % 5 / 4}\n" for t in ("one", "three") for s in "ABCD" for m in "xyz"),
    "schema.json": json.dumps({"type": "object", "properties": {
        "id": {"type": "string"}, "title": {"type": "string"}, "date": {"type": ["string", "null"], "format": "date"},
        "total": {"type": "number", "x-tallystick": {"number": {"relative": 0.1}}}, "buyer": {"type": "object", "properties": {"name": {"type": ["string", "null"]}, "tall": {"type": "boolean"}}},
        "items": {"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string", "x-tallystick": {"text": "jaro_winkler"}}, "price": {"type": "number"}, "type": {"enum": list(data.TYPES)},
            "tags": {"type": "array", "items": {"type": "string"}, "x-tallystick": "distinct"}}}}}}),
    "shapes.py": """
from dataclasses import dataclass, field
from typing import Annotated, Optional
import tallystick as ts

@dataclass
class Item:
    name: Annotated[str, ts.text("levenshtein", "casefold")]
    type: str
    count: int
    price: Annotated[float, ts.number(absolute=1.0)]
    tags: set[str]
    where: tuple[int, int]
    kind: Optional[str] = None

@dataclass
class Buyer:
    name: Optional[str]
    tall: bool

@dataclass
class Invoice:
    id: str
    title: str
    date: Optional[str]
    total: float
    buyer: Buyer
    items: list[Item]

Names = list[str]

def share(gold, system):
    return {"f1": 2 * len(set(map(str, gold)) & set(map(str, system))) / ((len(gold) + len(system)) or 1)}
""",
}  # fmt: skip


def spread(table: str) -> Iterator[str]:
    """The lines of a table, one for each choice."""
    for line in dict.fromkeys(one.strip() for one in table.strip("\n").split("\n")):
        parts = re.split(r"\{([^{}]*\|[^{}]*)\}", line)
        yield from map(
            "".join, itertools.product(*(part.split("|") if k % 2 else [part] for k, part in enumerate(parts)))
        )


def expanded(table: str) -> Iterator[list[str]]:
    """The command lines of a table."""
    yield from map(shlex.split, spread(table))


# Expressions, over the documents of `golden.structured`: F is a field of an item, PHI the similarity of its values

LEAVES = {
    "type": """exact
        subtypes({"LOC": "PLACE", "PER": "PLACE", "PLACE": "THING"})
        subtypes({"LOC": "PER"}, direction="predicted_descendant", credit=0.25)
        supertypes({"LOC": "PLACE", "PER": "PLACE"})
        levels()
        aliases({"LOC": "PER"}, exact)
        judgements({["LOC", "PER"]: 0.5, ["PER", "ORG.CO"]: 0.25})
        weigh(exact, {"PER": 2.0, "LOC": 0.5})
        weighted(exact, 3)""",
    "name": """text()
        text("levenshtein")
        text("levenshtein", "casefold", "whitespace")
        text("jaro_winkler", "punctuation")
        text("token_sort")
        at_least(text("levenshtein"), 0.5)
        above(text("levenshtein"), 0.4, keep=True)
        via(tallystick:words, f1(match(exact)))
        via(golden:short, exact)
        function(golden:near)
        function(golden:near, reflexive=False)
        any_of(exact)
        judged("texts.sqlite", partial=0.5)
        optional(text("levenshtein"))""",
    "price": "number(1.0)\nnumber(0.0, 0.2)\nnumber(0.5, 0.1)",
    "date": "date()\ndate(3)\noptional(date(3))",
    "where": 'overlap()\noverlap("dice")\noverlap("containment")\noverlap("coverage")\noverlap("any")\noverlap("last")\nat_least(overlap(), 0.5)\nsequence(exact)',
    "kind": "optional(exact)\noptional(exact, null=True)\noptional(exact, empty=True)\noptional(cases(str=exact))",
    "tags": """match(exact)
        match(exact, distinct=True)
        f1(match(exact))
        jaccard(match(exact))
        precision(match(exact))
        recall(match(exact, N:1))
        subset(exact)
        subset(exact, empty=True)
        links(exact)
        best(exact)
        sequence(text("levenshtein"))
        at_least(f1(match(exact)), 1)
        above(match(exact), 0.5, share=True)""",
}
FRAMES = """
f1(each(items=match(record(count=exact, F=PHI))))
f1(each(items=match(each(count=exact, F=PHI), {1:1|N:1|1:N|N:N})))
f1(each(title=exact, items=match(keyed(each(F=PHI, count=exact), "count"))))
"""
WHOLE = """
{f1|jaccard|precision|recall}(each(items=match(each(type=exact, name=text("levenshtein"), tags=match(exact)), {1:1|N:1|1:N|N:N})))
f1(each(items=match(record(type=exact, tags=f1(match(exact))), {N:1|1:N|N:N}, literal=True)))
f1(each(items=match(record(type=exact, name=exact), {1:1|N:1|1:N|N:N}, distinct=True)))
f(each(items=match(record(type=exact, count=exact))), {0.5|2})
f1(each(items=match(weigh(record(type=exact), {"name": 1.0, "nominal": 0.5}, by="kind"))))
sides(precision=precision(each(items=match(record(type=exact)))), recall=recall(each(items=match(record(count=exact)))))
f1(each(items=sequence(record(type=exact, price=number(1.0)))))
f1(each(items=sequence(each(type=exact, name=text("levenshtein")))))
f1(each(sets=match({f1|jaccard|precision|recall}(match(exact)))))
f1(each(sets=match({match|links|best|subset|sequence}(exact), {1:1|N:1|N:N})))
f1(each(triples=latent(record(rel=exact, subj=var, obj=var), {1:1|N:1|1:N|N:N})))
f1(each(triples=latent(each(rel=exact, subj=var))))
f1(each(triples=latent(record(rel=exact, subj=var, obj=weighted(var, 2)), 1:1, limit=60.0)))
f1(scoped(each(triples=match(record(rel=exact, subj=var, obj=var)), nodes=match(record(id=var, label=exact)))))
f1(each(tree={tree|top_down|unordered}({exact|text("levenshtein")})))
f1(each(tree=top_down(exact, ordered=True), title=exact))
f1(each(graph=graph(exact, {1:1|N:1|N:N})))
jaccard(each(graph=graph(text("levenshtein")), tree=tree(exact)))
f1(each(nested=let(Tree, record(label=exact, children=f1(match(Tree))))))
f1(each(title=any_of(text("levenshtein")), items=match(record(name=exact))))
f1(each(mixed=match(cases(str=text("levenshtein"), int=number(1.0), list=f1(match(exact))))))
"""
