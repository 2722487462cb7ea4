"""The links of the built site: every one of them leads to a page, a file and an anchor that are there, and nothing is loaded from elsewhere.

    python -m docsite.links site

Links to other sites are counted, not followed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {("link", "href"), ("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src")}
_FOLLOWED = {("a", "href"), ("area", "href"), *_LOADED}
_LINKED_ONLY = {"canonical", "next", "prev", "alternate", "edit"}
"""Relations of a `<link>` that a browser does not load."""


@dataclass
class _Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    anchors: set[str] = field(default_factory=lambda: {"", "__top"})
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.anchors |= {named[key] for key in ("id", "name") if key in named and tag != "meta"}
        for name, value in named.items():
            if (tag, name) in _FOLLOWED:
                self.links.append(value)
            if (tag, name) in _LOADED and named.get("rel") not in _LINKED_ONLY:
                self.loaded.append(value)


@cache
def _read(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def broken(site: Path) -> list[str]:
    """What is wrong with the links of a site, a line for each."""
    return [
        f"{file.relative_to(site)}: {wrong}"
        for file in sorted(site.rglob("*.html"))
        if file.name != "404.html"
        for wrong in _wrong(file, site)
    ]


def _wrong(file: Path, site: Path) -> list[str]:
    page, wrong = _read(file), []
    for link in page.loaded:
        if urlsplit(link).netloc:
            wrong.append(f"loads {link} from elsewhere")
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file() or not target.is_relative_to(site.resolve()):
            wrong.append(f"{link} leads to no file of the site")
        elif target.suffix == ".html" and unquote(parts.fragment) not in _read(target).anchors:
            wrong.append(f"{link} leads to no anchor of {target.name}")
    return wrong


def main() -> int:
    """Print what is wrong; 1 if something is."""
    site = Path(sys.argv[1]).resolve()
    files = sorted(site.rglob("*.html"))
    wrong = broken(site)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    followed = sum(len(_read(file).links) for file in files)
    print(f"{len(files)} pages, {followed} links, {len(wrong)} broken")
    return bool(wrong) or not files


if __name__ == "__main__":
    sys.exit(main())
