"""The labels that the UD evaluation tells apart, as they were fixed for the CoNLL 2018 shared task.

Relations count without their language-specific subtype, features only if they are universal. CLAS, MLAS and
BLEX look at words with a content relation; MLAS also at their children with a functional one. A relation in
neither list (`punct`) is not looked at by these three.
"""

from __future__ import annotations

CONTENT = frozenset(
    [
        "nsubj",
        "obj",
        "iobj",
        "csubj",
        "ccomp",
        "xcomp",
        "obl",
        "vocative",
        "expl",
        "dislocated",
        "advcl",
        "advmod",
        "discourse",
        "nmod",
        "appos",
        "nummod",
        "acl",
        "amod",
        "conj",
        "fixed",
        "flat",
        "compound",
        "list",
        "parataxis",
        "orphan",
        "goeswith",
        "reparandum",
        "root",
        "dep",
    ]
)
FUNCTIONAL = frozenset(["aux", "cop", "mark", "det", "clf", "case", "cc"])
UNIVERSAL_FEATURES = frozenset(
    [
        "PronType",
        "NumType",
        "Poss",
        "Reflex",
        "Foreign",
        "Abbr",
        "Gender",
        "Animacy",
        "Number",
        "Case",
        "Definite",
        "Degree",
        "VerbForm",
        "Mood",
        "Tense",
        "Aspect",
        "Voice",
        "Evident",
        "Polarity",
        "Person",
        "Polite",
    ]
)


def universal_features(feats: str) -> str:
    """The universal ones among the features, sorted."""
    return "|".join(sorted(feat for feat in feats.split("|") if feat.partition("=")[0] in UNIVERSAL_FEATURES))


def without_subtype(deprel: str) -> str:
    """`nsubj` of `nsubj:pass`."""
    return deprel.partition(":")[0]


def without_subtypes(path: str) -> str:
    """`conj>obl` of `conj:and>obl:in`."""
    return ">".join(map(without_subtype, path.split(">")))
