"""What the breakdown and the explanation show is all of what was scored, and says what merely passes."""

import tallystick as ts


def fields(metric, reference, predicted):
    result = ts.evaluate(metric, [reference], [predicted])
    rows = {row.path: row for row in result.by_field()}
    if not any(row.diagnostic for row in rows.values()):
        assert sum(row.tally["num_p"] for row in rows.values()) == result.tally["num_p"]
        assert sum(row.tally["den_r"] for row in rows.values()) == result.tally["den_r"]
    return rows


def test_a_leaf_under_a_normaliser_is_a_row():
    metric = ts.f1(ts.each(a=ts.f1(ts.exact), b=ts.precision(ts.text("jaro")), c=ts.jaccard(ts.number(1))))
    rows = fields(metric, {"a": "x", "b": "ab", "c": 1}, {"a": "x", "b": "ac", "c": 2})
    assert list(rows) == ["a", "b", "c"]
    assert (rows["a"].wrong, rows["b"].wrong, rows["c"].wrong) == (0, 1, 0)


def test_the_words_of_a_text_are_no_fields():
    metric = ts.f1(ts.each(d=ts.via(ts.words, ts.f1(ts.match(ts.exact))), n=ts.exact))
    left, right = {"d": "a big dog", "n": 1}, {"d": "a dog", "n": 1}
    rows = fields(metric, left, right)
    assert list(rows) == ["d", "n"]
    assert rows["d"].figures["f1"] == 2 / 3
    assert not rows["d"].diagnostic
    assert "≠ d: 'a big dog' ↔ 'a dog'  0.6667" in str(ts.evaluate(metric, [left], [right]).explain(0))


def test_items_under_a_nested_normaliser_are_rows_of_a_diagnosis():
    metric = ts.f1(ts.match(ts.record(d=ts.exact, t=ts.f1(ts.match(ts.f1(ts.exact))))))
    rows = fields(metric, [{"d": "x", "t": ["a", "b"]}], [{"d": "x", "t": ["a"]}])
    assert list(rows) == ["[*].d", "[*].t[*]"]
    assert rows["[*].t[*]"].missing == 1


def test_what_passes_without_being_equal_is_marked():
    metric = ts.f1(
        ts.each(n=ts.number(1), a=ts.aliases({"US$": "USD"}), t=ts.text("equal", "casefold"), e=ts.exact, f=ts.exact)
    )
    shown = str(
        ts.evaluate(
            metric,
            [{"n": 1, "a": "USD", "t": "X", "e": float("nan"), "f": [1, {"a": 2}]}],
            [{"n": 2, "a": "US$", "t": "x", "e": float("nan"), "f": [1, {"a": 2}]}],
        ).explain(0)
    )
    assert "≈ n: 1 ↔ 2" in shown
    assert "≈ a: 'USD' ↔ 'US$'" in shown
    assert "≈ t: 'X' ↔ 'x'" in shown
    assert "= e: nan" in shown
    assert "= f: [1, {'a': 2}]" in shown


def test_one_is_not_one_point_nought_where_a_metric_says_so_only():
    shown = str(ts.evaluate(ts.f1(ts.each(n=ts.exact)), [{"n": 1}], [{"n": 1.0}]).explain(0))
    assert "= n: 1" in shown  # equal numbers, as Python has them


def test_documents_without_anything_come_last_under_one_metric_and_under_two():
    from tallystick import evaluate, exact, f1, match, text
    from tallystick.results.tables import documents_table

    references, predictions = [["a"], [], ["b"], ["c"]], [["a"], [], ["x"], ["c"]]
    one, other = (evaluate(f1(match(phi)), references, predictions) for phi in (exact, text()))
    for results in ({"one": one}, {"one": one, "other": other}):
        table = documents_table(results)
        assert list(dict.fromkeys(row[0] for row in table.rows)) == ["2", "0", "3", "1"]
        assert table.columns == ["document", *(["metric"] if len(results) > 1 else []), "precision", "recall", "f1"]
        assert len(table.rows) == 4 * len(results)
