"""Scoring that says when it begins with a shard, and takes its time."""

import os
import time

from tallystick.tasks.contract import Reading
from tallystick.tasks.roles.task import TASK, RoleSettings


def score_slowly(reference, predicted, *, log, seconds):
    with open(log, "a", buffering=1) as stream:
        stream.write(f"{reference.ranges[0][0]} {os.getpid()}\n")
    time.sleep(seconds)
    return TASK.score(reference, predicted, (), RoleSettings(), Reading(part=True))


def begun(log):
    """The shards that were begun, as often as they were."""
    try:
        with open(log) as stream:
            return [int(line.split()[0]) for line in stream if line.strip()]
    except FileNotFoundError:
        return []
