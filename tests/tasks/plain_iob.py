"""Slow, plain decoders to check the fast one against. They were compared with seqeval 1.2.2.

`test_iob.py` compares with seqeval itself wherever it is installed.
"""

from __future__ import annotations

# (previous prefix, prefix, same type or None for any) as printed in seqeval.scheme
ANY = "OIBESLU"
START = {
    "IOB1": {("O", "I", None), ("I", "I", False), ("B", "I", None), ("I", "B", True), ("B", "B", True)},
    "IOE1": {("O", "I", None), ("I", "I", False), ("E", "I", None), ("E", "E", True)},
    "IOB2": {(x, "B", None) for x in ANY},
    "IOE2": {
        ("O", "I", None), ("O", "E", None), ("E", "I", None), ("E", "E", None),
        ("I", "I", False), ("I", "E", False),
    },
    "IOBES": {(x, y, None) for x in ANY for y in "BS"},
    "BILOU": {(x, y, None) for x in ANY for y in "BU"},
}  # fmt: skip
INSIDE = {
    "IOB1": {("B", "I", True), ("I", "I", True)},
    "IOE1": {("I", "I", True), ("I", "E", True)},
    "IOB2": {("B", "I", True), ("I", "I", True)},
    "IOE2": {("I", "E", True), ("I", "I", True)},
    "IOBES": {("B", "I", True), ("B", "E", True), ("I", "I", True), ("I", "E", True)},
    "BILOU": {("B", "I", True), ("B", "L", True), ("I", "I", True), ("I", "L", True)},
}
END = {
    "IOB1": {
        ("I", "I", False), ("I", "O", None), ("I", "B", None),
        ("B", "O", None), ("B", "I", False), ("B", "B", True),
    },
    "IOE1": {("I", "I", False), ("I", "O", None), ("I", "E", False), ("E", "I", True), ("E", "E", True)},
    "IOB2": {
        ("I", "O", None), ("I", "I", False), ("I", "B", None),
        ("B", "O", None), ("B", "I", False), ("B", "B", None),
    },
    "IOE2": {("E", x, None) for x in ANY},
    "IOBES": {(x, y, None) for x in "SE" for y in ANY},
    "BILOU": {(x, y, None) for x in "UL" for y in ANY},
}  # fmt: skip


def _split(tag: str) -> tuple[str, str]:
    return (tag[0], tag[2:] or "_")


def strict(tags: list[str], scheme: str) -> list[tuple[int, int, str]]:
    """Walk from token to token as seqeval's strict mode does."""
    parts = [_split(tag) for tag in [*tags, "O"]]

    def fits(patterns: set, index: int) -> bool:
        before = parts[index - 1] if index else ("O", "_")
        here = parts[index]
        return any(
            before[0] == a and here[0] == b and (same is None or same == (before[1] == here[1]))
            for a, b, same in patterns
        )

    found, i = [], 0
    while i < len(parts):
        if fits(START[scheme], i):
            end = i + 1
            while fits(INSIDE[scheme], end):
                end += 1
            if fits(END[scheme], end):
                found.append((i, end, parts[i][1]))
            i = end
        else:
            i += 1
    return found


def lenient(tags: list[str]) -> list[tuple[int, int, str]]:
    """conlleval's reading: a new segment wherever the tags do not clearly continue the one before."""
    found: list[tuple[int, int, str]] = []
    before = ("O", "")
    for i, tag in enumerate(tags):
        prefix, type_ = _split(tag)
        if prefix != "O":
            if prefix in "IEL" and before[0] in "BI" and before[1] == type_:
                found[-1] = (found[-1][0], i + 1, type_)
            else:
                found.append((i, i + 1, type_))
        before = (prefix, type_)
    return found


def encode(segments: list[tuple[int, int, str]], length: int, scheme: str) -> list[str]:
    """Flat segments as proper tags of a scheme."""
    tags = ["O"] * length
    first, last, single = {"IOBES": "BES", "BILOU": "BLU"}.get(scheme, "BEB")
    for start, end, type_ in segments:
        for i in range(start, end):
            tags[i] = f"I-{type_}"
        if scheme in ("IOBES", "BILOU"):
            tags[start], tags[end - 1] = f"{first}-{type_}", f"{last}-{type_}"
            if end - start == 1:
                tags[start] = f"{single}-{type_}"
        elif scheme == "IOB2" or (scheme == "IOB1" and any(s[1] == start and s[2] == type_ for s in segments)):
            tags[start] = f"B-{type_}"
        elif scheme == "IOE2" or (scheme == "IOE1" and any(s[0] == end and s[2] == type_ for s in segments)):
            tags[end - 1] = f"E-{type_}"
    return tags
