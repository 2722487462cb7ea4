"""`tallystick judge serve`, `terminal` and `judges`: people at a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tallystick.cli.output import FORMATS, chosen_format, say, show_tables
from tallystick.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from tallystick.judging.desk import Desk
    from tallystick.judging.store import Store

PORT = 8765


@click.command()
@click.argument("store")
@click.option("--annotator", metavar="NAME", help="Who judges; without it the page asks.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help=f"The port; 0 is any free one.  [default: {PORT}, or any free one]"
)
@click.option("--open", "open_", is_flag=True, help="Also open the page in a browser.")
def serve(store: str, annotator: str | None, port: int | None, open_: bool) -> None:
    """Serve the questions of STORE as a page for people, to this machine only, until Ctrl-C.

    \b
    tallystick judge serve judgements.sqlite
    tallystick judge serve judgements.sqlite --annotator anna --open

    The address that is printed carries a token: whoever has it may judge. Two people may use one server, or one each, at
    the same time. From another machine: ssh -L 8765:127.0.0.1:8765 HOST, and the same address.
    """
    from tallystick.judging.store import Store
    from tallystick.judging.web import JudgeServer

    with Store(store, create=False) as kept:
        total = len(kept.queue())
        if not total:
            raise InputError(f"{store}: there are no questions in it yet; `tallystick judge export` puts them there")
        try:
            server = JudgeServer(kept, PORT if port is None else port, annotator)
        except OSError as error:
            if port is not None:
                raise InputError(f"port {port} cannot be used ({error.strerror})") from None
            server = JudgeServer(kept, 0, annotator)
        with server:
            try:
                click.echo(server.address)
                say(f"{total:,} questions in {store}. Open the address above in a browser; Ctrl-C stops the server.")
                if open_:
                    import webbrowser

                    webbrowser.open(server.address)
                server.serve_forever()
            except KeyboardInterrupt:
                say("")
        _say_progress(kept)


def _say_progress(store: Store) -> None:
    total, people = len(store.queue()), [name for name, (kind, _) in store.judges().items() if kind == "person"]
    done = ", ".join(f"{name} {len(store.labels(name)):,}" for name in people)
    say(f"stopped; judged of {total:,}: {done or 'nothing'}")


@click.command()
@click.argument("store")
@click.option("--annotator", required=True, metavar="NAME", help="Who judges.")
def terminal(store: str, annotator: str) -> None:
    """Judge the questions of STORE in the terminal, one key for each answer.

    \b
    tallystick judge terminal judgements.sqlite --annotator anna

    Keys: 1 yes, 2 no; 7 (9, 0, letters; # and a number) a reference, 8 none of them; 3 to 6 the relation; Enter saves and goes
    on; b back, s skip, r remark, + the whole text, q quit. Each answer is written down at once; the next sitting goes on where this one stopped.
    """
    from tallystick.cli.console import standard_output
    from tallystick.judging.desk import Desk
    from tallystick.judging.store import Store
    from tallystick.judging.terminal import Keys, judge_in_terminal

    with Store(store, create=False) as kept:
        desk = Desk(kept, annotator)
        if not kept.queue():
            raise InputError(f"{store}: there are no questions in it yet; `tallystick judge export` puts them there")
        with Keys() as keys:
            session = judge_in_terminal(desk, standard_output(width=100), keys.key, keys.line)
        say(f"{session.answered:,} answered now, {len(desk.labels()):,} of {len(kept.queue()):,} in all")
        _say_agreement(desk)


def _say_agreement(desk: Desk) -> None:
    for one in desk.agreements():
        if one.n:
            shown = "undefined" if one.kappa_3 is None else f"{one.kappa_3:.2f}"
            say(f"kappa with {one.second} is {shown} over {one.n:,} questions")


@click.command()
@click.argument("store")
@click.option(
    "--experience",
    "marks",
    multiple=True,
    metavar="NAME=N",
    help="Mark a person's experience: where two disagree, the higher decides. May be repeated.",
)
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Default: table on a terminal, else tsv.")
def judges(store: str, marks: tuple[str, ...], format_: str | None) -> None:
    """List who has judged in STORE, and mark the more experienced.

    \b
    tallystick judge judges judgements.sqlite
    tallystick judge judges judgements.sqlite --experience anna=1
    """
    import json
    import re

    from tallystick.judging.questions import checked_experience
    from tallystick.judging.store import Store
    from tallystick.show.tables import Table

    with Store(store, create=False) as kept:
        known = kept.judges()
        for mark in marks:
            name, equals, number = mark.rpartition("=")
            if not equals or not re.fullmatch("-?[0-9]{1,18}", number):
                raise InputError(f"--experience expects NAME=N such as anna=1, found {mark!r:.80}")
            if name not in known:
                raise InputError(
                    f"{store}: nobody called {name!r} has judged here; there are {', '.join(known) or 'none yet'}."
                    f"{did_you_mean(name, known)}"
                )
            kept.add_judge(name, known[name][0], checked_experience(int(number)))
        known, total = kept.judges(), len(kept.queue())
        heard = {(judge, version): n for judge, version, n in kept.voices()}
        silent = {(name, ""): 0 for name in known if not any(judge == name for judge, _ in heard)}
        rows = [
            [judge, known[judge][0], version, n, known[judge][1]]
            for (judge, version), n in sorted({**heard, **silent}.items())
        ]
    columns = ["judge", "kind", "version", "judgements", "experience"]
    if chosen_format(format_) == "json":
        listed = [dict(zip(columns, row, strict=True)) for row in rows]
        click.echo(json.dumps({"questions": total, "judges": listed}, indent=2, ensure_ascii=False))
    else:
        show_tables([Table(columns, rows, notes=(f"{total:,} questions in the queue",))], format_)
