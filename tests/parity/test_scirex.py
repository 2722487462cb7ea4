"""SciREX's own figures on its 66 development documents; skipped without the data."""

import gzip
import json

import pytest

from public_data import PUBLIC, needs
from tallystick.files.pairing import pair_documents
from tallystick.tasks.nary import metrics as nary
from tallystick.tasks.nary.files import Relations, read_nary

DATA = PUBLIC / "events" / "scirex_dev_perturbed.json.gz"
pytestmark = needs("events/scirex_dev_perturbed.json.gz")


@pytest.fixture(scope="module")
def data():
    with gzip.open(DATA) as stream:
        return json.load(stream)


@pytest.fixture(scope="module")
def found(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("scirex")
    sides = []
    for side in ("gold", "pred"):
        path = folder / f"{side}.jsonl"
        path.write_text("".join(json.dumps(document) + "\n" for document in data[side]))
        sides.append(read_nary(path))
    return nary.score(pair_documents(*sides, Relations))


def test_scirexs_own_figures(data, found):
    expected = data["expected"]
    for name, theirs in (
        ("scirex_clusters", "salient_clusters_macro"),
        ("scirex_n2", "relations_n2_macro_over_(type-combination,doc)"),
        ("scirex_n4", "relations_n4_macro_over_(type-combination,doc)"),
    ):
        figures = found[name].figures
        assert [figures[key] for key in ("precision", "recall", "f1")] == pytest.approx(
            [expected[theirs][key] for key in ("p", "r", "f1")], abs=1e-10
        )
    assert found["scirex_n2"].tally["units"] == expected["relations_n2_rows"]
    assert found["scirex_n4"].tally["units"] == expected["relations_n4_rows"]


def test_scirexs_figures_document_by_document(data, found):
    clusters, relations = found["scirex_clusters"], found["scirex_n4"]
    for name, ours, theirs in zip(clusters.ids, clusters.rows, relations.rows, strict=True):
        expected = data["per_doc"][name]
        assert ours[:3].tolist() == pytest.approx([expected["cluster"][key] for key in ("p", "r", "f1")])
        if expected["rel4"]["gold"]:
            assert theirs[4:].tolist() == [expected["rel4"][key] for key in ("matched", "pred", "gold")]


def test_the_equations_beside_them(found):
    figures = {
        name: [round(found[name].figures[key], 4) for key in ("precision", "recall", "f1")]
        for name in ("clusters", "n2", "n4")
    }
    assert figures == {
        "clusters": [0.7833, 0.6329, 0.7001],
        "n2": [0.3579, 0.4776, 0.4092],
        "n4": [0.1366, 0.3472, 0.1961],
    }
