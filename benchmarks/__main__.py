"""Run benchmarks by name: `python -m benchmarks [--repeat N] [--quick] [name ...]`."""

import argparse
import importlib
import sys

NAMES = (
    "acceleration", "arrow", "coreference", "coreference_columns", "coverage", "crowds", "dependencies", "engines", "hierarchies", "invoices",
    "judges", "meaning", "records", "relations", "resampling", "spans", "sturdiness",
)  # fmt: skip


def main() -> int:
    """Run them one after the other; 1 if a contender broke or figures differ, never for being slow."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--repeat", type=int, default=1, help="processes for each contender; the best counts")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in NAMES]
    if unknown or options.repeat < 1:
        parser.error(f"unknown benchmark {unknown[0]!r}; there are {', '.join(NAMES)}" if unknown else "--repeat < 1")
    fine = True
    for name in options.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        fine = module.run(repeat=options.repeat, quick=options.quick) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
