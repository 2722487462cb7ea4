"""Run as a script: a run with a state is killed with SIGKILL at random moments, again and again, and then finishes."""

import json
import os
import random
import signal
import sys
import time
from functools import partial

from slowly import begun, score_slowly

from tallystick.run.shards import run_files
from tallystick.run.state import State
from tallystick.tasks.contract import find_task

SIZE = 120


def run(folder):
    gold, system, log = (os.path.join(folder, name) for name in ("gold.jsonl", "system.jsonl", "log"))
    score = partial(score_slowly, log=log, seconds=0.01)
    with State(os.path.join(folder, "state"), "roles", {"size": SIZE}) as state:
        done = run_files(score, gold, system, find_task("roles").boundaries(gold, None), state=state, size=SIZE)
    return {name: result.as_dict() for name, result in done.results.items()}, done.shards, state.taken


def main(folder, kills):
    r = random.Random(11)
    log = os.path.join(folder, "log")
    for _ in range(kills):
        child = os.fork()
        if not child:
            run(folder)
            os._exit(0)
        enough = len(begun(log)) + r.randint(1, 5)
        while len(begun(log)) < enough and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.002)
        time.sleep(r.random() * 0.03)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    results, shards, taken = run(folder)
    print(json.dumps({"results": results, "shards": shards, "taken": taken, "begun": len(begun(log))}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
