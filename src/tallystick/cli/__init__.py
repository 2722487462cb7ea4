"""The commands. Every module of the library is imported where it is used, so that `--help` is quick."""

from __future__ import annotations


def main() -> None:
    """The entry point of `tallystick`."""
    import os

    # Small problems gain nothing from BLAS threads, and starting them costs more than scoring.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from tallystick.cli.main import tallystick

        tallystick(prog_name="tallystick")
    except KeyboardInterrupt:  # before or after a command
        os.write(2, b"Interrupted\n")
        os._exit(130)
