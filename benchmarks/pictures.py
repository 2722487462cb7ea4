"""The pictures in README.md: a report and a comparison of the bundled receipts, as a browser shows them.

    python -m benchmarks.pictures        writes docs/report.png and docs/comparison.png

Needs Chromium (`make browser`) and `pip install -e ".[dev]"`.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from tallystick.cli.main import tallystick

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = Path(__file__).parents[1] / "src" / "tallystick" / "examples"
GOLD, SMALL, LARGE = (f"receipts.{name}.jsonl" for name in ("gold", "small", "large"))
READ = ["--from", "output", "--lenient"]
COLOURS = 64


def write(folder: Path) -> None:
    """Both pictures, into a folder."""
    os.chdir(EXAMPLES)
    with tempfile.TemporaryDirectory() as here:
        choices, report, comparison = (
            str(Path(here) / name) for name in ("choices.yaml", "report.html", "comparison.html")
        )
        run("suggest", "records", GOLD, SMALL, *READ, "--output", choices)
        run("score", "records", GOLD, LARGE, *READ, "--choices", choices, "--report", report)
        run("compare", "records", GOLD, f"small={SMALL}", f"large={LARGE}", *READ, "--choices", choices, "--by", "field", "--report", comparison)  # fmt: skip
        shoot(report, folder / "report.png", 1150, open_worst)
        shoot(comparison, folder / "comparison.png", 1020)


def run(*arguments: str) -> None:
    code = tallystick.run(list(arguments), "tallystick")
    if code:
        sys.exit(code)


def open_worst(page: Any) -> None:
    """The worst field, with its kinds of error."""
    page.get_by_role("button", name="date", exact=True).first.click()


def shoot(html: str, png: Path, height: int, prepare: Callable[[Any], None] = lambda page: None) -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1200, "height": height}, device_scale_factor=1.25)
        page.goto(Path(html).as_uri())
        prepare(page)
        page.evaluate("scrollTo(0, 0)")
        shot = Image.open(BytesIO(page.screenshot()))
        browser.close()
    shot.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(png, optimize=True)


if __name__ == "__main__":
    write(DOCS)
