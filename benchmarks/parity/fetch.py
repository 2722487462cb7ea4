"""Fetching: each file of `sources.toml` once, going on where a download broke off, checked before it gets its name.

A file that is there with the right checksum is not fetched again. One that cannot be had is named, and the rest goes on. `base` may be
another server, or a folder with the repositories as REPOSITORY/COMMIT/PATH or REPOSITORY/PATH.
"""

from __future__ import annotations

import hashlib
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BASE = "https://raw.githubusercontent.com"
SOURCES = Path(__file__).with_name("sources.toml")
PIECE = 1 << 16


class File(NamedTuple):
    """A file of a repository, and where it goes."""

    repository: str
    commit: str
    path: str
    to: str
    sha256: str = ""


def sources() -> list[dict[str, Any]]:
    """The sources, as they are declared."""
    found: list[dict[str, Any]] = tomllib.loads(SOURCES.read_text(encoding="utf-8"))["source"]
    return found


def files_of(source: dict[str, Any]) -> Iterator[File]:
    """The files of one source."""
    for one in source["files"]:
        yield File(source["repository"], source["commit"], **one)


def fetch(folder: Path, base: str = BASE, only: tuple[str, ...] = ()) -> bool:
    """All files of all sources into a folder; whether all are there. Prints what is fetched, and under which licence."""
    complete = True
    for source in sources():
        if only and source["name"] not in only:
            continue
        print(
            f"{source['name']}: {source['what']}\n  https://github.com/{source['repository']} at {source['commit'][:10]}"
        )
        print(f"  licence: {source['licence']}")
        for one in files_of(source):
            said = _fetch_one(one, folder / one.to, base)
            complete &= said in ("there", "fetched")
            print(f"  {said}: {one.to}", flush=True)
    return complete


def _fetch_one(one: File, to: Path, base: str) -> str:
    if to.exists() and (not one.sha256 or checksum(to) == one.sha256):
        return "there"
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_name(f"{to.name}.part")
    try:
        _download(_address(one, base), part)
    except (OSError, urllib.error.URLError) as error:
        return f"NOT FETCHED ({error})"
    found = checksum(part)
    if one.sha256 and found != one.sha256:
        part.unlink()
        return f"NOT TAKEN (its SHA-256 is {found}, expected {one.sha256})"
    part.replace(to)
    return "fetched"


def _address(one: File, base: str) -> str:
    """At a server; or in a folder, with or without the commit in the path."""
    if "://" in base:
        return f"{base.rstrip('/')}/{one.repository}/{one.commit}/{one.path}"
    places = [Path(base, one.repository, one.commit, one.path), Path(base, one.repository, one.path)]
    return next((place for place in places if place.exists()), places[-1]).resolve().as_uri()


def _download(address: str, part: Path) -> None:
    """Into a file that may hold the beginning already."""
    had = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={had}-"} if had else {})
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != 416:  # there is nothing behind what we have
            raise
        return
    with answer, part.open("ab" if had and getattr(answer, "status", None) == 206 else "wb") as out:
        while piece := answer.read(PIECE):
            out.write(piece)


def checksum(file: Path) -> str:
    """SHA-256 of a file."""
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(PIECE):
            found.update(piece)
    return found.hexdigest()
