"""The command line, run as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path


def run(*arguments, code=0, **environment):
    import os

    done = subprocess.run(
        [sys.executable, "-m", "tallystick", *arguments],
        capture_output=True, text=True, encoding="utf-8", env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def run_here(*arguments, code=0, stdin=None):
    """The same within this process, for the many commands that only have to say something."""
    from click.testing import CliRunner

    from tallystick.cli.main import tallystick

    done = CliRunner().invoke(tallystick, list(arguments), input=stdin)
    assert done.exit_code == code, done.output
    assert "Internal error" not in done.output
    return done
