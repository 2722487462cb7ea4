"""The tests are the same each time: hypothesis draws its examples from a fixed seed. `browser` is a real Chromium."""

import os
import re
import shutil
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from running import PATIENCE

# As the command does (`tallystick.cli`): small matrices gain nothing from threads, which wait for each other on a busy machine.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    # Whoever wants no bytecode beside the sources still has it once: a command in a process of its own would compile 280 modules each time.
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).parents[1] / ".pytest_cache/bytecode"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # In the background a shell has Ctrl-C ignored, and every program that a test starts would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "steady", deadline=None, derandomize=True, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", parent=settings.get_profile("steady"), derandomize=False, max_examples=500)
settings.load_profile("steady")

PEERS = {
    "seqeval", "nervaluate", "smatch", "smatchpp", "penman", "sklearn", "pandas", "pyarrow", "zstandard", "distributed", "dask",
    "pydantic", "attrs", "attr", "babel", "phonenumbers", "matplotlib", "openai", "spacy", "gensim", "wordllama", "jsonschema",
    "markdown", "latex2mathml", "nbclient", "nbformat", "playwright",
}  # fmt: skip
"""Other people's packages that tests compare with or feed: where one is not installed, its tests are skipped, and say so."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    with _skipped_without_peers():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    depth = sys.getrecursionlimit()
    try:
        with _skipped_without_peers():
            return (yield)
    finally:
        sys.setrecursionlimit(
            depth
        )  # mypy raises it, and JSON in ten thousand lists would then be read by whichever test comes next


@contextmanager
def _skipped_without_peers():
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in PEERS:
            pytest.skip(f"{error.name} is not installed")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """A module of tests that imports such a package at its top is skipped as a whole."""
    report = yield
    missing = re.search(r"No module named '(\w+)", str(report.longrepr)) if report.outcome == "failed" else None
    if missing and missing[1] in PEERS:
        report.outcome, report.longrepr = "skipped", (str(collector.path), 1, f"Skipped: {missing[1]} is not installed")
    return report


QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
"""Chromium as root, offline: it asks nobody for anything of its own."""


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium, driven by playwright; `make browser` installs it on Debian."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine: `make browser` installs it")
    with playwright.sync_playwright() as driver:
        program = driver.chromium.launch(executable_path=chromium, args=QUIET, timeout=PATIENCE * 1000)
        make = program.new_context

        def patient(**options):
            context = make(**options)
            context.set_default_timeout(PATIENCE * 1000)
            return context

        program.new_context = patient
        yield program
        program.close()
