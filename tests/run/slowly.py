"""Scoring that says when it begins with a shard, and takes its time."""

import os
import time

from tallystick.tasks.roles.task import results


def score_slowly(reference, predicted, *, log, seconds):
    name = reference.split("\x1f")[1]
    with open(log, "a", buffering=1) as stream:
        stream.write(f"{name} {os.getpid()}\n")
    time.sleep(seconds)
    return results(reference, predicted, (), "grit", None, None, None)


def begun(log):
    """The shards that were begun, as often as they were."""
    try:
        with open(log) as stream:
            return [int(line.split()[0]) for line in stream if line.strip()]
    except FileNotFoundError:
        return []
