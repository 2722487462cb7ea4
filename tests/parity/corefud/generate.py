"""Random CorefUD files: nested, crossing, discontinuous and zero mentions, and empty nodes that differ between key and response.

expected.json has, for each case, what the CorefUD scorer gives under the options that were drawn for it: recall, precision and F1
in per cent of muc, bcub, ceafe, ceafm, blanc, lea, mor and zero. They were recorded from a transcription of the matching and the
metrics of ufal/corefud-scorer (MIT), on files read by udapi, which gives all 2,744 figures that the scorer itself printed for its own test cases.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

CASES = 300
Token = tuple[int, int]
"""The number of a word, and of the empty node after it (0: the word itself)."""


@dataclass
class Sentence:
    """Words, empty nodes with their dependencies, and mentions: tokens, the head among them, the entity."""

    words: int
    empty: dict[Token, list[str]] = field(default_factory=dict)
    mentions: list[tuple[list[Token], Token, int]] = field(default_factory=list)

    @property
    def tokens(self) -> list[Token]:
        return sorted([*((word, 0) for word in range(1, self.words + 1)), *self.empty])


def draw_case(number: int) -> tuple[str, str, dict[str, object]]:
    """The key, the response, and the options under which the figures were recorded."""
    rng = random.Random(number)
    words = [rng.randint(5, 12) for _ in range(rng.randint(2, 5))]
    entities = rng.randint(2, 5)
    key = [_draw_sentence(rng, count, entities) for count in words]
    response = [_change_sentence(rng, sentence, entities) for sentence in key]
    options = {
        "match": rng.choice(("head", "head", "partial", "exact")),
        "singletons": rng.random() < 0.4,
        "zeros": rng.choice(("dependent", "dependent", "linear")),
    }
    return _text(key), _text(response), options


def _draw_sentence(rng: random.Random, words: int, entities: int) -> Sentence:
    sentence = Sentence(words)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        _add_empty(rng, sentence)
    for _ in range(rng.randint(1, 5)):
        _add_mention(rng, sentence, entities)
    return sentence


def _add_empty(rng: random.Random, sentence: Sentence) -> None:
    after = rng.randint(0, sentence.words)
    number = 1 + max((n for word, n in sentence.empty if word == after), default=0)
    sentence.empty[after, number] = _draw_dependencies(rng, sentence.words)


def _draw_dependencies(rng: random.Random, words: int) -> list[str]:
    parents = sorted(rng.sample(range(1, words + 1), rng.choice((1, 1, 1, 2))))
    return [f"{parent}:{rng.choice(('nsubj', 'obj', 'dep'))}" for parent in parents]


def _add_mention(rng: random.Random, sentence: Sentence, entities: int) -> None:
    tokens = sentence.tokens
    if sentence.empty and rng.random() < 0.35:
        chosen = [rng.choice(list(sentence.empty))]
    else:
        first = rng.randrange(len(tokens))
        chosen = tokens[first : first + rng.choice((1, 1, 2, 3, 4, 6))]
        if len(chosen) > 2 and rng.random() < 0.25:  # a gap
            del chosen[rng.randrange(1, len(chosen) - 1)]
    head = rng.choice(chosen)
    _append(sentence, chosen, head, rng.randrange(entities))


def _append(sentence: Sentence, tokens: list[Token], head: Token, entity: int) -> None:
    """Another mention. None stands twice (what the scorer does then is a slip of its own), and those of one entity do not
    overlap (brackets with one id could not be told apart)."""
    twice = any(set(tokens) == set(other) for other, _, _ in sentence.mentions)
    overlaps = any(
        of == entity and other[0] <= tokens[-1] and tokens[0] <= other[-1] for other, _, of in sentence.mentions
    )
    if not twice and not overlaps:
        sentence.mentions.append((tokens, head, entity))


def _change_sentence(rng: random.Random, key: Sentence, entities: int) -> Sentence:
    """What a system might say: some mentions lost, moved, cut, and in other entities; other empty nodes."""
    out = Sentence(key.words)
    moved: dict[Token, Token] = {}
    for token, dependencies in sorted(key.empty.items()):
        if rng.random() < 0.15:
            continue
        after = rng.randint(0, key.words) if rng.random() < 0.4 else token[0]
        place = (after, 1 + max((n for word, n in out.empty if word == after), default=0))
        moved[token] = place
        out.empty[place] = _draw_dependencies(rng, key.words) if rng.random() < 0.3 else dependencies
    if rng.random() < 0.25:
        _add_empty(rng, out)
    for tokens, head, entity in key.mentions:
        chance = rng.random()
        kept = [moved.get(token, token) for token in tokens if token[1] == 0 or token in moved]
        if chance < 0.12 or not kept:
            continue
        if chance < 0.45:  # a little more, a little less
            everything = out.tokens
            if rng.random() < 0.5 and len(kept) > 1:
                kept.remove(rng.choice((kept[0], kept[-1])))
            else:
                kept = sorted({*kept, everything[min(len(everything) - 1, everything.index(max(kept)) + 1)]})
        new_head = moved.get(head, head)
        if new_head not in kept or rng.random() < 0.1:
            new_head = rng.choice(kept)
        kept = sorted(set(kept))
        entity = rng.randrange(entities) if rng.random() < 0.2 else entity
        _append(out, kept, new_head, entity)
    if rng.random() < 0.4:
        _add_mention(rng, out, entities)
    return out


def _text(sentences: list[Sentence]) -> str:
    lines = []
    for number, sentence in enumerate(sentences):
        if number in (0, 2):
            lines.append(f"# newdoc id = d{number}")
            if number == 0:
                lines.append("# global.Entity = eid-etype-head-other")
        lines.append(f"# sent_id = s{number}")
        lines += [*_rows(sentence), ""]
    return "\n".join(lines) + "\n"


def _rows(sentence: Sentence) -> list[str]:
    tokens = sentence.tokens
    opening: dict[Token, list[tuple[int, str]]] = {token: [] for token in tokens}
    closing: dict[Token, list[tuple[int, str]]] = {token: [] for token in tokens}
    for number, (members, head, entity) in enumerate(sorted(sentence.mentions)):
        runs: list[list[Token]] = []
        for token in members:
            if runs and tokens.index(token) == tokens.index(runs[-1][-1]) + 1:
                runs[-1].append(token)
            else:
                runs.append([token])
        for part, run in enumerate(runs, 1):
            id = f"e{entity}" if len(runs) == 1 else f"e{entity}[{part}/{len(runs)}]"
            opened = f"({id}-x-{members.index(head) + 1}-"
            if len(run) == 1:
                opening[run[0]].append((number, f"{opened})"))
            else:
                opening[run[0]].append((number, opened))
                closing[run[-1]].append((number, f"{id})"))
    rows = []
    for token in tokens:
        marks = [text for _, text in closing[token]] + [text for _, text in opening[token]]
        misc = f"Entity={''.join(marks)}" if marks else "_"
        name = f"{token[0]}.{token[1]}" if token[1] else str(token[0])
        deps = "|".join(sentence.empty[token]) if token[1] else "_"
        rows.append(f"{name}\tw\t_\t_\t_\t_\t0\t_\t{deps}\t{misc}")
    return rows
