"""Embeddings as judges: offline, the same each time, and no better than their kappa says."""

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import running
from tallystick.errors import InputError
from tallystick.judging import Judgement, Question, Store, Verdict
from tallystick.judging.classifier import Classifier, EmbeddingJudge, features, read_labelled, read_split, train
from tallystick.judging.encoders import Vectors, encoder_named
from tallystick.judging.recorded import judge_named

pytest.importorskip("wordllama", reason="the default encoder is not installed: pip install 'tallystick[embeddings]'")
pytest.importorskip("sklearn", reason="training needs scikit-learn: pip install 'tallystick[embeddings]'")

PAIRS = Path(str(resources.files("tallystick"))) / "examples" / "judged_pairs.jsonl"


@pytest.fixture(scope="module")
def labelled():
    return read_labelled(PAIRS)


@pytest.fixture(scope="module")
def trained(labelled):
    return train(labelled, "wordllama")


# Cosines.

numbers = st.floats(-8, 8, width=16)


@given(
    st.integers(1, 40).flatmap(lambda d: st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=1, max_size=8))
)
def test_a_cosine_is_the_same_bit_for_bit_in_whatever_order_it_is_summed(rows):
    values = np.array(rows, np.float64)
    vectors = Vectors.of(values)
    n = len(values)
    i, j = (side.ravel() for side in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    whole = vectors.rectangle(vectors)
    assert np.array_equal(whole.ravel(), vectors.cosines(vectors, i, j))
    backwards = Vectors.of(values[:, ::-1].copy())
    assert np.array_equal(whole, backwards.rectangle(backwards))
    one = vectors.take(np.array([0]))
    assert np.array_equal(whole[0], one.rectangle(vectors)[0])
    lengths = np.linalg.norm(values, axis=1)
    used = lengths > 0
    assert np.array_equal(np.diag(whole), used.astype(float))
    plain = values[used] @ values[used].T / np.outer(lengths[used], lengths[used])
    assert np.allclose(whole[used][:, used], plain, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=70), st.randoms())
def test_a_text_has_one_vector_whatever_it_is_encoded_with(texts, random):
    encoder = encoder_named("wordllama")
    together = encoder.vectors(texts)
    order = random.sample(range(len(texts)), len(texts))
    shuffled = encoder.vectors([texts[k] for k in order])
    assert np.array_equal(shuffled.whole, together.whole[order])
    alone = encoder.vectors(texts[:1])
    assert np.array_equal(alone.whole[0], together.whole[0])


def test_the_default_encoder_is_offline_and_leaves_logging_alone():
    code = (
        "import logging, socket\n"
        "def refuse(*_, **__): raise OSError('no network in this test')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from tallystick.judging.encoders import encoder_named\n"
        "print(encoder_named('wordllama').similarities(['the harbour police'], ['harbour cops']).tolist())\n"
        "assert not logging.getLogger().handlers and logging.getLogger().level == logging.WARNING"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    assert 0.7 < json.loads(runs[0].stdout)[0] < 0.9


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wordlama", "no encoder called 'wordlama'; .*Did you mean \"wordllama\""),
        ("words", "no encoder called 'words'"),
        ("wordllama:big", "no encoder called 'wordllama:big'"),
        ("bertscore:x?layer=3", "no option 'layer'; it has layers"),
    ],
)
def test_an_encoder_that_is_not_there(name, message):
    with pytest.raises(InputError, match=message):
        encoder_named(name)


# Word vectors.


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # gensim leaves a file open
def test_word_vectors_in_every_format_of_gensim(tmp_path):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed: pip install 'tallystick[gensim]'")
    words = ["the", "officer", "Police", "police", "harbour"]
    table = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    vectors = models.KeyedVectors(8)
    vectors.add_vectors(words, table)
    vectors.save(str(tmp_path / "v.kv"))
    vectors.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    vectors.save_word2vec_format(str(tmp_path / "v.txt"))
    vectors.save_word2vec_format(str(tmp_path / "v.vec.gz"))
    lines = [f"{word} {' '.join(repr(float(x)) for x in row)}\n" for word, row in zip(words, table, strict=True)]
    (tmp_path / "glove.txt").write_text("".join(lines))
    left, right = ["the harbour police", "Officer", "unheard of"], ["Police", "officer", "police"]
    mean = table[[0, 4, 3]].astype(float).mean(axis=0)
    expected = mean @ table[2] / np.linalg.norm(mean) / np.linalg.norm(table[2].astype(float))
    signatures = set()
    for name in ("v.kv", "v.bin", "v.txt", "v.vec.gz", "glove.txt"):
        encoder = encoder_named(f"words:{tmp_path / name}")
        signatures.add(encoder.signature.split()[-1])
        assert np.allclose(encoder.similarities(left, right), [expected, 1, 0], atol=1e-6)
    assert len(signatures) == 1  # the same numbers, whatever the file


def test_word_vectors_that_cannot_be_read(tmp_path):
    pytest.importorskip("gensim", reason="gensim is not installed: pip install 'tallystick[gensim]'")
    with pytest.raises(InputError, match="no such file of word vectors"):
        encoder_named(f"words:{tmp_path / 'nothing.txt'}")
    for name, content in (("a.txt", b"not vectors at all\n"), ("b.bin", b"\x00\x01\x02"), ("c.kv", b"no pickle")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name}: gensim cannot read these word vectors"):
            encoder_named(f"words:{tmp_path / name}")


# The classifier.


def test_the_recorded_labels_are_a_demonstration_of_120_pairs(labelled):
    assert len(labelled) == 120
    counts = {label: sum(one == label for _, one in labelled) for label in ("Correct", "Partial", "Incorrect")}
    assert counts == {"Correct": 45, "Partial": 37, "Incorrect": 38}
    assert len({question.key for question, _ in labelled}) == 120


def test_the_kappa_against_recorded_labels_is_that_of_scikit_learn_done_by_hand(labelled, trained):
    import sklearn
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import cohen_kappa_score
    from sklearn.model_selection import StratifiedGroupKFold

    held_out = trained.held_out
    assert held_out.n == 120
    assert (round(held_out.kappa_3, 4), round(held_out.kappa_2, 4)) == (
        0.2815,
        0.3120,
    )  # as docs/judging_models.md says
    if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8):
        pytest.skip("scikit-learn before 1.8 shuffles the counts of groups without the groups")
    x = features(encoder_named("wordllama"), [question for question, _ in labelled])
    y = np.array([label for _, label in labelled])
    texts = sorted({(q.candidate, q.references) for q, _ in labelled})
    groups = [texts.index((q.candidate, q.references)) for q, _ in labelled]
    guesses = np.empty(len(y), y.dtype)
    for learnt, tested in StratifiedGroupKFold(5, shuffle=True, random_state=0).split(x, y.tolist(), groups):
        guesses[tested] = LogisticRegression().fit(x[learnt, None], y[learnt]).predict(x[tested, None])
    assert held_out.kappa_3 == pytest.approx(cohen_kappa_score(y, guesses))
    assert held_out.kappa_2 == pytest.approx(cohen_kappa_score(y == "Correct", guesses == "Correct"))


def test_a_classifier_says_what_scikit_learn_says(labelled):
    from sklearn.linear_model import LogisticRegression

    x = features(encoder_named("wordllama"), [question for question, _ in labelled])
    labels = [label for _, label in labelled]
    assert (
        Classifier.fit(x, labels).label(x) == LogisticRegression().fit(x[:, None], labels).predict(x[:, None]).tolist()
    )
    two = [label if label == "Correct" else "Incorrect" for label in labels]
    assert Classifier.fit(x, two).label(x) == LogisticRegression().fit(x[:, None], two).predict(x[:, None]).tolist()
    with pytest.raises(InputError, match="at least two different labels to learn from, found Correct"):
        Classifier.fit(x, ["Correct"] * len(labels))


def test_folds_that_leave_one_label_are_said():
    """Two labels, but one of them has the same texts throughout, which stay together."""
    same = [(Question("a", ("b",), document=str(k)), "Correct") for k in range(4)]
    others = [(Question(f"c{k}", ("d",)), "Incorrect") for k in range(4)]
    with pytest.raises(
        InputError, match="only Incorrect is left to learn from: questions with the same texts stay in one fold"
    ):
        train([*same, *others], "wordllama", folds=2)


def test_saved_and_loaded_it_judges_alike(tmp_path, labelled, trained):
    path = tmp_path / "model.json"
    trained.judge.save(path)
    loaded = judge_named(f"embedding:{path}")
    questions = [question for question, _ in labelled]
    assert loaded.judge(questions) == trained.judge.judge(questions)
    assert loaded == trained.judge
    assert loaded.signature == trained.judge.signature
    assert json.loads(path.read_text())["training"]["questions"] == 120
    assert train(labelled, "wordllama").judge.signature == trained.judge.signature


def test_the_nearest_reference_decides_and_those_that_earn_its_label_are_named(trained):
    one = Question("the harbour police", ("a piano", "the harbour police", "harbour police"))
    none = Question("the harbour police")
    far = Question("piano", ("the harbour police", "coastguard"))
    first, second, third = trained.judge.judge([one, none, far])
    assert (first.label, first.references) == ("Correct", (1, 2))
    assert second is None
    assert (third.label, third.references) == ("Incorrect", ())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"encoder_signature": "wordllama 0.1"}, "trained with the encoder 'wordllama 0.1', and here it is 'wordllama"),
        ({"format": "other"}, "format 'other', expected 'tallystick embedding judge 1'"),
        ({"slopes": [1.0]}, "labels and coefficients do not fit together"),
        ({"slopes": ["x"]}, "not a classifier that `tallystick judge train` made"),
    ],
)
def test_a_classifier_that_does_not_fit_is_refused(tmp_path, trained, change, message):
    path = tmp_path / "model.json"
    trained.judge.save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InputError, match=message):
        EmbeddingJudge.load(path)


def test_an_untrained_embedding_judges_nothing(tmp_path):
    with pytest.raises(InputError, match=r"an embedding judges nothing by itself.*judge train"):
        judge_named("embedding")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(InputError, match=r"broken\.json: not a classifier"):
        judge_named(f"embedding:{tmp_path / 'broken.json'}")


def test_the_same_texts_never_stand_on_both_sides_of_a_fold(labelled):
    """Each question twice, in another document: a leak would be a classifier that has seen the answer."""
    twice = labelled + [(Question(q.candidate, q.references, document="elsewhere"), label) for q, label in labelled]
    found = train(twice, "wordllama")
    assert found.held_out.n == 240
    with pytest.raises(InputError, match="the rarest label has 37"):
        train(labelled, "wordllama", folds=38)


# The command, and judges by name.


def run(*arguments, code=0):
    return running.run("judge", "train", *arguments, code=code)


def test_training_from_a_store_with_a_split(tmp_path, labelled):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.add_all(Judgement(question, "ann", Verdict(label)) for question, label in labelled)
        store.add(Judgement(labelled[0][0], "bob", Verdict("Incorrect")))
    split = tmp_path / "split.tsv"
    keys = [question.key for question, _ in labelled]
    split.write_text("".join(f"{key}\t{'test' if k % 3 == 0 else 'train'}\n" for k, key in enumerate(keys[:-5])))
    done = run(path, "--from", "ann", "--split", split, "--out", tmp_path / "model.json", "--format", "json")
    (row,) = json.loads(done.stdout)
    assert row["held-out questions"] == 39
    assert "5 labelled questions are in neither part of the split" in done.stderr
    assert json.loads((tmp_path / "model.json").read_text())["training"]["questions"] == 76
    parts = read_split(split)
    again = train(labelled, "wordllama", split=parts)
    assert again.judge == EmbeddingJudge.load(tmp_path / "model.json")
    assert row["kappa_3"] == again.held_out.kappa_3
    assert "there is no judge called 'anne'" in run(path, "--from", "anne", code=2).stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"candidate": "a", "label": "Correct"}', "labels.jsonl:2: has no 'references' or 'reference'"),
        (
            '{"candidate": "a", "reference": "b", "label": "Right"}',
            "label: expected one of Correct, Partial, Incorrect",
        ),
        (
            '{"candidat": "a", "reference": "b", "label": "Partial"}',
            "unknown part 'candidat'.*Did you mean \"candidate\"",
        ),
    ],
)
def test_labels_that_cannot_be_read(tmp_path, line, message):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"candidate": "a", "reference": "b", "label": "Partial"}\n' + line + "\n")
    with pytest.raises(InputError, match=message):
        read_labelled(path)


def test_a_split_that_cannot_be_read(tmp_path):
    path = tmp_path / "split.tsv"
    path.write_text("abc\ttrain\nabc train\n")
    with pytest.raises(InputError, match=r"split\.tsv:2: expected a question's key, a tab, and train or test"):
        read_split(path)
    path.write_text("abc\ttrain\nabc\ttest\n")
    with pytest.raises(InputError, match=r"split\.tsv:2: the question abc is in both parts"):
        read_split(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("embeding:model.json", 'no judge called .*Did you mean "embedding"'),
        ("judgements.db", "no judge called 'judgements.db', and no such store"),
        ("llm", "name the model"),
        ("llm:m?promt=expert", "has no option 'promt'.*Did you mean \"prompt\""),
        ("llm:m?reference=perhaps", "reference: expected yes or no, found 'perhaps'"),
        ("llm:m?concurrency=many", "concurrency: expected a number, found 'many'"),
        ("llm:m?concurrency=0", "a concurrency of 1 or more"),
        ("llm:m?parameters={", "parameters: expected a JSON object"),
        ("", "expected the name of a judge"),
    ],
)
def test_a_judge_that_is_not_there(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        judge_named(name)


def test_a_store_is_a_judge(tmp_path):
    path = tmp_path / "s.sqlite"
    question = Question("a", ("b",))
    with Store(path) as store:
        store.add(Judgement(question, "ann", Verdict("Correct", (0,))))
        store.add(Judgement(question, "bob", Verdict("Incorrect")))
    assert judge_named(str(path)).judge([question]) == [None]  # they disagree
    assert judge_named(f"{path}?judge=ann").judge([question]) == [Verdict("Correct", (0,))]
    assert judge_named(str(path), judge="bob").judge([question]) == [Verdict("Incorrect")]
    with pytest.raises(InputError, match="there is no judge called 'an'"):
        judge_named(f"{path}?judge=an")
