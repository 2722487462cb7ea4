"""The command line in this process, which is much quicker than a new one."""

import json

from click.testing import CliRunner

from tallystick.cli.main import tallystick


def call(*arguments, code=0, stdin=None):
    done = CliRunner().invoke(tallystick, [str(one) for one in arguments], input=stdin)
    assert code is None or done.exit_code == code, (done.output, done.exception)
    return done


def score(task, *arguments, **options):
    return json.loads(call("score", task, *arguments, "--format", "json", **options).stdout)
