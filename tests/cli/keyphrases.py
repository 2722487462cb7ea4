"""A task as CONTRIBUTING.md says that one is added: `score` and `results`, and nothing else.

A document is a line for each phrase, and a blank line ends it; the documents of two files meet by order.
"""

import click

import tallystick as ts
from tallystick.cli.output import common_options, files, finish


def read(file):
    with open(file, encoding="utf-8") as stream:
        return [part.split("\n") for part in stream.read().strip("\n").split("\n\n")]


def results(reference, predicted):
    return {"phrases": ts.evaluate(ts.f1(ts.match(ts.exact)), read(reference), read(predicted))}


@click.command()
@files
@common_options
def score(reference, predicted, common):
    """Score phrases."""
    finish(results(reference, predicted), common)
