"""Pairs of CoNLL files for `benchmarks.coreference`: seeded, and the same each time.

Mentions of one document never cross, so that every file means the same to every reader.
"""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

WIDTH = 9
LENGTHS = (1, 1, 1, 1, 2, 2, 3, 5, 8)
Mentions = dict[tuple[int, int], int]
"""The entity of each span (first, last)."""


def write_large(key: str, response: str, tokens: int, seed: int = 1) -> None:
    """Documents of 2,000 tokens and 205 mentions, twelve columns; the response loses 12 % and moves 13 %."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(4999)]
    length = 2000
    with open(key, "w") as ours, open(response, "w") as theirs:
        for number in range(-(-tokens // length)):
            gold: Mentions = {}
            for slot in sorted(rng.sample(range(length // WIDTH), 205)):
                start = slot * WIDTH
                gold[start, start + rng.choice(LENGTHS) - 1] = rng.randrange(60 if rng.random() < 0.6 else 200)
            system: Mentions = {}
            for span, entity in gold.items():
                chance = rng.random()
                if chance >= 0.12:
                    system[span] = rng.randrange(200) if chance < 0.25 else entity
            name = f"bc/synth/{number // 100:02d}/synth_{number:05d}"
            columns = [
                f"{name}\t0\t{n % 20}\t{words[(n * 31 + number * 7) % 4999]}\tNN\t(NP*)\tlemma\t-\t-\tspeaker_0001\t*\t"
                for n in range(length)
            ]
            for file, mentions in ((ours, gold), (theirs, system)):
                file.writelines(_document(f"({name}); part 000", columns, mentions, sentence=20))


def write_one_document(key: str, response: str, mentions: int, entities: int, seed: int = 2) -> None:
    """One long document: entities of very uneven size; in the response a tenth is moved, a twentieth lost, some new."""
    rng = random.Random(seed)
    gold: Mentions = {}
    for number in range(mentions):
        start = number * 4
        entity = number if number < entities else int(entities * rng.random() ** 2)
        gold[start, start + rng.choice((0, 0, 1, 2))] = entity
    system: Mentions = {}
    for (start, end), entity in gold.items():
        chance = rng.random()
        if chance < 0.05:
            continue
        if chance < 0.10:
            end = start + (end - start + 1) % 3
        system[start, end] = rng.randrange(entities) if chance > 0.9 else entity
    _write_pair(key, response, mentions * 4, gold, system)


def write_giant_component(key: str, response: str, entities: int, seed: int = 3) -> None:
    """As many entities on both sides, each with a few mentions of three to ten random ones of the other side."""
    rng = random.Random(seed)
    meetings = [
        (one, other)
        for one in range(entities)
        for other in rng.sample(range(entities), rng.randint(3, 10))
        for _ in range(rng.randint(1, 3))
    ]
    rng.shuffle(meetings)
    gold = {(n, n): one for n, (one, _) in enumerate(meetings)}
    system = {(n, n): other for n, (_, other) in enumerate(meetings)}
    _write_pair(key, response, len(meetings), gold, system)


def write_corefud(key: str, response: str, tokens: int, seed: int = 4) -> None:
    """CorefUD: sentences of 20 words with nested mentions, and zeros in a third of them; the response moves, cuts and loses some of them."""
    rng = random.Random(seed)
    with open(key, "w") as ours, open(response, "w") as theirs:
        for number in range(tokens // 20):
            spans = {_draw_span(rng): (rng.random(), rng.randrange(120)) for _ in range(4)}
            gold = [
                (first, last, first + int((last - first + 1) * place), entity)
                for (first, last), (place, entity) in spans.items()
            ]
            system = [_change(rng, *mention) for mention in gold if rng.random() >= 0.1]
            zero = (rng.randint(1, 20), rng.randint(1, 20), rng.randrange(120)) if rng.random() < 0.33 else None
            predicted = zero and (rng.randint(1, 20) if rng.random() < 0.3 else zero[0], *zero[1:])
            for file, mentions, node in ((ours, gold, zero), (theirs, system, predicted)):
                if number % 100 == 0:
                    file.write(f"# newdoc id = d{number // 100}\n# global.Entity = eid-etype-head-other\n")
                file.write(f"# sent_id = s{number}\n{_sentence(mentions, node)}\n")


def _draw_span(rng: random.Random) -> tuple[int, int]:
    first = rng.randint(1, 20)
    return first, min(20, first + rng.choice((0, 0, 1, 2, 4, 7)))


def _change(rng: random.Random, first: int, last: int, head: int, entity: int) -> tuple[int, int, int, int]:
    if rng.random() < 0.3:
        first = max(1, first - rng.randint(0, 1))
        last = min(20, max(first, last + rng.randint(-1, 1)))
    return first, last, min(max(head, first), last), entity if rng.random() < 0.85 else rng.randrange(120)


def _sentence(mentions: list[tuple[int, int, int, int]], node: tuple[int, int, int] | None) -> str:
    """Rows of words; mentions of one entity do not overlap."""
    cells: dict[int, list[str]] = {}
    kept: list[tuple[int, int, int]] = []
    for first, last, head, entity in mentions:
        if any(entity == other and first <= end and start <= last for start, end, other in kept):
            continue
        kept.append((first, last, entity))
        if first == last:
            cells.setdefault(first, []).append(f"(e{entity}-x-1-)")
        else:
            inside = node is not None and first <= node[0] < head  # an empty node is a word of the mention around it
            cells.setdefault(first, []).append(f"(e{entity}-x-{head - first + 1 + inside}-")
            cells.setdefault(last, []).insert(0, f"e{entity})")
    rows = []
    for word in range(1, 21):
        misc = f"Entity={''.join(cells[word])}" if word in cells else "_"
        rows.append(f"{word}\tword{word}\tw\tX\t_\t_\t{word - 1}\tdep\t_\t{misc}\n")
        if node is not None and node[0] == word:
            rows.append(f"{word}.1\t_\t_\tPRON\t_\t_\t_\t_\t{node[1]}:nsubj\tEntity=(z{node[2]}-x-1-)\n")
    return "".join(rows)


def write_small(key: str, response: str) -> None:
    """Twenty tokens whose five entities on each side are one component: it needs an assignment."""
    gold = {(n, n): n % 5 for n in range(20)}
    system = {(n, n): (n % 5 + (n % 3 == 0)) % 5 for n in range(20)}
    _write_pair(key, response, 20, gold, system)


def _write_pair(key: str, response: str, tokens: int, gold: Mentions, system: Mentions) -> None:
    columns = [f"d\t0\t{n}\tw\t" for n in range(tokens)]
    for path, mentions in ((key, gold), (response, system)):
        Path(path).write_text("".join(_document("(d); part 000", columns, mentions)))


def _document(name: str, columns: list[str], mentions: Mentions, sentence: int = 0) -> Iterator[str]:
    cells: dict[int, list[str]] = {}
    for (start, end), entity in mentions.items():
        if start == end:
            cells.setdefault(start, []).append(f"({entity})")
        else:
            cells.setdefault(start, []).append(f"({entity}")
            cells.setdefault(end, []).append(f"{entity})")
    yield f"#begin document {name}\n"
    for n, before in enumerate(columns):
        yield f"{before}{'|'.join(cells[n]) if n in cells else '-'}\n"
        if sentence and n % sentence == sentence - 1:
            yield "\n"
    yield "\n#end document\n"


def write_scorch(files: Iterable[str], folders: Iterable[str], documents: int | None = None) -> None:
    """The same documents as folders of JSON files, scorch's format."""
    import json

    from tallystick.tasks.coreference.files import read_chains

    for file, folder in zip(files, folders, strict=True):
        chains = read_chains(file)
        Path(folder).mkdir()
        clusters: list[dict[str, list[str]]] = [{} for _ in chains.documents]
        for row in range(len(chains)):
            mention = f"{chains.start[row]}-{chains.end[row]}"
            clusters[chains.document[row]].setdefault(str(chains.entity[row]), []).append(mention)
        for number, content in enumerate(clusters[:documents]):
            text = json.dumps({"type": "clusters", "clusters": content})
            Path(folder, f"{number:05d}.json").write_text(text)
