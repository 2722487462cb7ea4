"""`turns`: who speaks when. A line is {"id": ..., "turns": [[start, end, speaker], ...], "room": ...}, times in seconds."""

from __future__ import annotations

from typing import Any, NamedTuple

from tallystick.frozen import frozen
from tallystick.tasks.contract import Reading, Task, missing_option, option


class Turn(NamedTuple):
    """Somebody speaks for a while."""

    speaker: str
    time: tuple[float, float]


class Call(NamedTuple):
    """All turns of a call, and where it was: what a document keeps, --slice can be by."""

    turns: tuple[Turn, ...] = ()
    room: str = ""


@frozen
class TurnSettings:
    """What counts."""

    collar: float = option(0.0, "Seconds around a reference turn's ends that count neither way.", least=0)
    missing: str = missing_option()


class Turns(Task):
    """Speaker turns."""

    name = "turns"
    summary = "who speaks when: the rate of seconds that are missed, false or another's; matched turns"
    help = "Score speaker turns: REFERENCE and PREDICTED are JSON Lines of {id, turns: [[start, end, speaker], ...]}."
    Settings = TurnSettings
    main = "error_rate"
    explained = "turns"
    breakdowns = ("label", "field")
    labels = {"speaker": "turns[*].speaker"}
    document_keys = ("id", "turns", "room")

    def read(self, reference: Any, predicted: Any, settings: TurnSettings, reading: Reading) -> Any:
        from tallystick.files.pairing import pair_documents

        return pair_documents(read_turns(reference), read_turns(predicted), Call, reading.missing)

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: TurnSettings) -> Any:
        from tallystick.tasks.turns.metrics import score

        return score(corpus, metrics, settings.collar)


def read_turns(file: Any) -> Any:
    """The calls of a file, by id."""
    from tallystick.files.json_values import read_json
    from tallystick.files.pairing import Documents

    calls: Documents[Call] = Documents(str(file), "turns")
    for line in read_json(file):
        turns = [one.several(3, "[start, end, speaker]")[:3] for one in line.at("turns").each()]
        read = tuple(Turn(who.text(), (start.number(), end.number())) for start, end, who in turns)
        calls.add(line.at("id").name(), Call(read, line.value.get("room", "")), line.place)
    return calls


TASK = Turns()
