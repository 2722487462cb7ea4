"""`tallystick judge serve` as a process of its own."""

import subprocess
from contextlib import contextmanager

from running import PATIENCE, TALLYSTICK


class Served:
    def __init__(self, path, *arguments):
        self.process = subprocess.Popen(
            [*TALLYSTICK, "judge", "serve", str(path), "--port", "0", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.process.stderr.read()

    def kill(self):
        self.process.kill()  # SIGKILL: nothing is tidied up
        self.process.communicate()

    def stop(self):
        import signal

        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=PATIENCE)[1]


@contextmanager
def served(path, *arguments):
    one = Served(path, *arguments)
    try:
        yield one
    finally:
        if one.process.poll() is None:
            one.kill()
