"""The figures of a command as JSON."""

import json

from running import run as call


def score(task, *arguments, **options):
    return json.loads(call("score", task, *arguments, "--format", "json", **options).stdout)
