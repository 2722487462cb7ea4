"""Pairs of CoNLL-U files over one text, cut into sentences, tokens and words at random on each side."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

RELATIONS = ["nsubj", "nsubj:pass", "obj", "det", "det:poss", "case", "punct", "conj", "aux"]
LABELS = ["nsubj", "nsubj:pass", "conj:and>obj", "conj>obj"]
FEATS = ["_", "Number=Sing", "Number=Plur", "Number=Sing|Typo=Yes", "Typo=Yes", "Case=Nom|Number=Sing"]


def make_tree(rng: Random, size: int) -> list[int]:
    """The head (from 1; 0 is the root) of each word of a random tree."""
    order = list(range(size))
    rng.shuffle(order)
    heads = [0] * size
    for at in range(1, size):
        heads[order[at]] = order[rng.randrange(at)] + 1
    return heads


def write_side(rng: Random, text: str, *, documents: bool = False) -> str:
    lines, at = [], 0
    while at < len(text):
        end = min(len(text), at + rng.choice((1, 3, 6, 12)))
        if documents and rng.random() < 0.4:
            lines.append(rng.choice(("# newdoc", f"# newdoc id = d{at}")))
        lines += [*write_sentence(rng, text[at:end]), ""]
        at = end
    return "".join(line + "\n" for line in lines)


def write_sentence(rng: Random, text: str) -> list[str]:
    tokens: list[tuple[str, list[str]]] = []
    while text:
        cut = min(len(text), rng.choice((1, 1, 1, 2, 2, 3, 4)))
        form, text = text[:cut], text[cut:]
        parts = [form]
        if rng.random() < 0.35:
            parts = list(form) if rng.random() < 0.5 else rng.choices("abAB", k=rng.randint(1, 3))
            tokens.append((form, parts))
        else:
            tokens.append(("", parts))
    forms = [part for _, parts in tokens for part in parts]
    heads = make_tree(rng, len(forms))
    lines, at = [], 0
    for multi, parts in tokens:
        if multi:
            lines.append(f"{at + 1}-{at + len(parts)}\t{multi}" + "\t_" * 8)
        for part in parts:
            lemma, upos = rng.choice(("x", "y", "_")), rng.choice(("NOUN", "VERB"))
            feats = "_" if rng.random() < 0.5 else rng.choice(FEATS)
            head, relation = heads[at], rng.choice(RELATIONS) if heads[at] else "root"
            edges = [f"{rng.randint(0, len(forms))}:{rng.choice(LABELS)}" for _ in range(rng.choice((0, 1, 1, 2, 3)))]
            at += 1
            columns = [
                at,
                part,
                lemma,
                upos,
                rng.choice("UV"),
                feats,
                head,
                relation,
                "|".join(edges) or "_",
                "_",
            ]
            lines.append("\t".join(map(str, columns)))
            if rng.random() < 0.05:
                lines.append(f"{at}.1\tnone" + "\t_" * 8)
    return lines


@st.composite
def pairs(draw: st.DrawFn, *, documents: bool = False) -> tuple[str, str]:
    text = draw(st.text("abA", max_size=24))
    rng = draw(st.randoms(use_true_random=False))
    return write_side(rng, text, documents=documents), write_side(rng, text, documents=documents)
