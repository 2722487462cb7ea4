"""The report of 5,000 records with confidences: what writing it costs, what it weighs, and how soon one can work with it.

The page's time is that of its own thread in a headless Chromium (`TaskDuration`, in thread ticks), from an empty page until the
errors of a field and a document are open, so that a busy machine changes little. Without a Chromium that row is left out.
"""

import json
import random
import shutil
import tempfile
from pathlib import Path

from benchmarks.measure import claim, launch, show

FIELDS, LINES = 12, 4


def write_records(folder: Path, size: int) -> tuple[str, str]:
    """Records of twelve fields and four lines, a tenth of the values wrong, each with a confidence."""
    rng = random.Random(2)
    paths = folder / "gold.jsonl", folder / "system.jsonl"
    words = ("alpha", "beta", "gamma", "delta")

    def said(value: object, other: object) -> dict[str, object]:
        sure = rng.random() ** 0.1
        return {"value": value if rng.random() < sure else other, "confidence": round(sure, 4)}

    with paths[0].open("w") as gold, paths[1].open("w") as system:
        for k in range(size):
            fields = {f"field_{j}": f"{rng.choice(words)} {rng.randrange(1000)}" for j in range(FIELDS)}
            lines = [{"sku": f"s{rng.randrange(99)}", "price": rng.randrange(1, 900)} for _ in range(LINES)]
            answer = {name: said(value, value.upper()) for name, value in fields.items()}
            items = [{name: said(value, 0) for name, value in line.items()} for line in lines]
            gold.write(json.dumps({"id": f"document-{k:05}", **fields, "lines": lines}) + "\n")
            system.write(json.dumps({"id": f"document-{k:05}", **answer, "lines": items}) + "\n")
    return str(paths[0]), str(paths[1])


def time_to_use(page: Path) -> float | None:
    """Seconds of the page's own thread until a field and a document are open; None without a Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        clock = tab.context.new_cdp_session(tab)
        clock.send("Performance.enable", {"timeDomain": "threadTicks"})
        tab.goto(page.resolve().as_uri())
        tab.locator("#breakdown th .link").first.click()
        tab.locator("#list summary").first.click()
        tab.locator("#list table.pair").wait_for()
        spent = {one["name"]: one["value"] for one in clock.send("Performance.getMetrics")["metrics"]}
        browser.close()
    return float(spent["TaskDuration"])


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; False if a command breaks."""
    size = 500 if quick else 5_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files, page = write_records(folder, size), folder / "report.html"
        command = ["-m", "tallystick", "score", "records", *files, "--confidence", "confidence"]
        plain = launch(command, repeat=repeat)
        written = launch([*command, "--report", str(page)], repeat=repeat)
        if plain.problem or written.problem:
            print(plain.problem or written.problem)
            return False
        weight = page.stat().st_size / 1e6
        seconds = min((found for _ in range(max(repeat, 3)) if (found := time_to_use(page)) is not None), default=None)
    rows = [["", "CPU s", "MB"], ["score with confidences", f"{plain.cpu:.2f}", f"{plain.peak:.0f}"]]
    rows.append(["the same with a report", f"{written.cpu:.2f}", f"{written.peak:.0f}"])
    show(f"a report of {size:,} records", rows)
    claim("the page weighs", weight, "MB", at_most=2)
    if seconds is not None:
        claim("a field and a document are open after", seconds, "s", at_most=1)
    return True
