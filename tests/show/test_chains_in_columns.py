"""Documents of coreference travel as columns; what the page makes of them is what Python packs of every other document."""

import gzip
import json
import random
import sys

import pytest

from public_data import PUBLIC, needs
from tallystick.files.writing import to_json_object
from tallystick.results.documents import carry_documents
from tallystick.results.report import Page, render
from tallystick.tasks.contract import Reading, Scored, Shown, find_task
from tallystick.tasks.coreference.show import SPACES

TASK = find_task("coreference")
WORDS = ["Ann", "saw", "her", "”", "naïve", "“x", "</script>", '"', "\\", "😀", "\ufeff", "long" * 30]


def compared(opened, tmp_path, key, response, **settings):
    """A document by what the page makes of it, and by what Python packs; and how many travel as columns."""
    settings = TASK.Settings(**settings)
    corpus = TASK.read(str(key), str(response), settings, Reading(texts=True))
    scored = Scored(corpus, TASK.evaluate(corpus, ("conll", "ceaf_e"), settings))
    parts = TASK.parts(scored, settings, Shown())
    ids = scored.results["conll"].ids
    plain = carry_documents(ids, parts.explain, parts.draw, 10**9).documents
    columns = [None] * len(ids) if parts.pack is None else parts.pack(ids)
    page = tmp_path / "page.html"
    page.write_text(render(Page("t", scored.results, parts, cap=len(ids))), encoding="utf-8")
    opened_page = opened(page)
    shown = dict(zip(*opened_page.evaluate("[data.documents.ids, Object.values(saved().aligned)]"), strict=True))
    wanted = dict(zip(ids, map(json.loads, plain), strict=True))
    return shown, wanted, sum(one is not None for one in columns)


def write(path, documents):
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    return path


def made(rng, name, words, spans, entities):
    """A document: the text, and mentions that are put into entities by chance."""
    clusters = [[] for _ in range(entities)]
    for span in spans:
        rng.choice(clusters).append(span)
    return {"id": name, "sentences": words, "clusters": [one for one in clusters if one]}


def corpus(tmp_path, rng, documents):
    sides = [[], []]
    for k in range(documents):
        words = [[rng.choice(WORDS) for _ in range(rng.randint(1, 9))] for _ in range(rng.randint(1, 9))]
        n = sum(map(len, words))
        every = [[a, min(n - 1, a + rng.choice((0, 0, 0, 1, 2, 8)))] for a in range(n)]
        for side in sides:
            some = rng.sample(every, rng.randint(0, len(every)))
            side.append(made(rng, f"d{k}", words, some, rng.randint(1, 8)))
    return write(tmp_path / "key.jsonl", sides[0]), write(tmp_path / "response.jsonl", sides[1])


def test_documents_made_by_chance(opened, tmp_path):
    shown, wanted, packed = compared(opened, tmp_path, *corpus(tmp_path, random.Random(1), 150))
    assert packed > 120
    assert shown == wanted


@pytest.mark.parametrize("settings", [{"drop_singletons": True}, {"compat": "reference"}, {"scope": "corpus"}])
def test_other_settings(opened, tmp_path, settings):
    shown, wanted, _ = compared(opened, tmp_path, *corpus(tmp_path, random.Random(2), 12), **settings)
    assert shown == wanted


@pytest.mark.parametrize("word", ["a\xa0b", "a b", "a\nb", "\x1f", " ", "a\u2028b"])
def test_words_that_hold_white_space_are_left_to_python(opened, tmp_path, word):
    document = {"id": "d", "sentences": [["a", word], ["b", "c"]], "clusters": [[[0, 0], [1, 1]], [[2, 3]]]}
    file = write(tmp_path / "key.jsonl", [document])
    shown, wanted, packed = compared(opened, tmp_path, file, file)
    assert packed == 0
    assert shown == wanted


def test_all_white_space_is_known():
    assert sorted(SPACES) == [c for c in map(chr, range(sys.maxunicode + 1)) if c.isspace() and c not in " \n"]


@pytest.mark.parametrize("word", ["a\xa0b", "\x1f", "a\u2028b"])
def test_white_space_in_columns(opened, tmp_path, word):
    lines = [f"d 0 {k} {one} ({k % 2})" for k, one in enumerate(["a", word, "b", "c"])]
    file = tmp_path / "key.conll"
    file.write_text("\n".join(["#begin document (d)", *lines, "", "#end document", ""]), encoding="utf-8")
    shown, wanted, packed = compared(opened, tmp_path, file, file)
    assert packed == 0
    assert shown == wanted


def test_a_long_document_is_left_to_python(opened, tmp_path):
    words = [[f"w{k}" for k in range(4100)]]
    document = {"id": "d", "sentences": words, "clusters": [[[k, k] for k in range(4099)], [[4099, 4099]]]}
    file = write(tmp_path / "key.jsonl", [document])
    shown, wanted, packed = compared(opened, tmp_path, file, file)
    assert packed == 0
    assert shown["d"]["cut"]
    assert shown == wanted


def test_a_text_of_many_words(opened, tmp_path):
    words = [["w"] * 10_000 for _ in range(7)]
    key = {
        "id": "d",
        "sentences": words,
        "clusters": [[[3, 3], [69_998, 69_999]], [[65_535, 65_535], [65_536, 65_537]]],
    }
    response = {**key, "clusters": [[[3, 3], [65_536, 65_537]], [[69_998, 69_999]]]}
    files = write(tmp_path / "key.jsonl", [key]), write(tmp_path / "response.jsonl", [response])
    shown, wanted, packed = compared(opened, tmp_path, *files)
    assert packed == 1
    assert shown == wanted


def test_the_budget_counts_what_travels():
    ready = to_json_object({"chains": {}})
    found = carry_documents(
        ["a", "b", "c"], None, lambda name: (), 2 * len(ready), pack=lambda some: [ready for _ in some]
    )
    assert (len(found.documents), found.full) == (2, True)


@needs("coreference/litbank.key.gz")
def test_litbank(opened, tmp_path):
    files = []
    for side in ("key", "response"):
        files.append(tmp_path / side)
        files[-1].write_bytes(gzip.decompress((PUBLIC / "coreference" / f"litbank.{side}.gz").read_bytes()))
    shown, wanted, packed = compared(opened, tmp_path, *files)
    assert packed == 100
    assert shown == wanted
