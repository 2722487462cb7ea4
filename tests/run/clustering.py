"""Run as a script: a Dask cluster of two worker processes, one of which is killed with SIGKILL in the middle."""

import json
import os
import signal
import sys
import threading
import time
from functools import partial


def main(folder):
    from distributed import Client, LocalCluster
    from slowly import begun, score_slowly

    from tallystick.run.processes import dask_workers
    from tallystick.run.shards import run_files
    from tallystick.tasks.contract import find_task

    gold, system, log = (os.path.join(folder, name) for name in ("gold.jsonl", "system.jsonl", "log"))
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster.scheduler_address) as client:
            workers = client.run(os.getpid)
            address_file = os.path.join(folder, "scheduler.json")
            client.write_scheduler_file(address_file)
        killed = []

        def kill():
            while len(begun(log)) < 4:
                time.sleep(0.01)
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        with dask_workers(cluster.scheduler_address) as executor:
            score = partial(score_slowly, log=log, seconds=0.05)
            done = run_files(
                score, gold, system, find_task("roles").boundaries(gold, None), executor=executor, size=200
            )
        thread.join()
        with open(log) as stream:
            who = {int(line.split()[1]) for line in stream}
        from running import invoke
        from tallystick.cli.main import tallystick

        arguments = ["score", "roles", gold, system, "--format", "json", "--shard", "400B"]
        command = invoke(tallystick, [*arguments, "--scheduler", address_file])
    found = {name: result.as_dict() for name, result in done.results.items()}
    print(json.dumps({
        "results": found, "shards": done.shards, "how": done.how, "killed": killed, "workers": sorted(who),
        "here": os.getpid(), "command": json.loads(command.stdout)["metrics"], "code": command.returncode,
    }))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
