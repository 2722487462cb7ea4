"""The page on which a person judges, served to this machine only.

Access: the printed address carries a token, which the page keeps as a cookie that no script can read and no other site can
send. Every request must name this machine as its host (a name that somebody else's DNS points here is refused), and requests that
write must come from the page itself (its `Origin`). Nothing is loaded from anywhere else, and all text reaches the page as JSON and
is set as text, so nothing in a document can become markup.

    GET  /                                  the page; with ?token= from the terminal, later by cookie
    GET  /judge.css, .js, .svg              its parts
    GET  /api/state?annotator=              progress, agreement so far
    GET  /api/question?annotator=&place=    a question as it is shown
    GET  /api/differences?annotator=&other= where two people answered differently
    POST /api/answer                        save an answer
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from tallystick.errors import InputError, TallystickError
from tallystick.judging.agreement import Agreement
from tallystick.judging.desk import (
    RELATION_KEYS,
    Desk,
    passage_of,
    person_name,
    question_texts,
    reference_keys,
    summary,
)
from tallystick.judging.questions import RELATIONS, Answers, Judgement, Relation
from tallystick.judging.store import Store
from tallystick.version import __version__


def state_view(store: Store, desk: Desk | None) -> dict[str, Any]:
    """The people, how many questions each has answered, and the agreement so far."""
    keys = set(store.queue())
    people = [
        {"name": name, "done": len(keys & store.labels(name).keys()), "experience": experience}
        for name, (kind, experience) in store.judges().items()
        if kind == "person"
    ]
    if desk is None:
        return {"total": len(keys), "people": people}
    return {
        "total": len(keys),
        "people": people,
        "annotator": desk.name,
        "done": len(keys & desk.labels().keys()),
        "next": desk.next_open(0),
        "agreements": [agreement_view(one) for one in desk.agreements()],
    }


def agreement_view(one: Agreement) -> dict[str, Any]:
    """An agreement with its table."""
    return {
        "with": one.second, "n": one.n, "observed": one.observed, "kappa_3": one.kappa_3, "kappa_2": one.kappa_2,
        "table": one.table,
    }  # fmt: skip


def question_view(desk: Desk, place: int) -> dict[str, Any]:
    """A question as a person sees it, with this person's answer, if there is one."""
    question = desk.question(place)
    passage = passage_of(question)
    own = desk.own(question.key)
    keys = reference_keys(len(question.references))
    return {
        "place": place,
        "key": question.key,
        "event_type": question.event_type,
        "trigger": question.trigger,
        "role": question.role,
        "source": question.source,
        "candidate": question.candidate,
        "references": [{"text": text, "key": key} for text, key in zip(question.references, keys, strict=True)],
        "relations": [
            {"name": name, "text": RELATIONS[name][0], "label": RELATIONS[name][1], "key": key}
            for key, name in RELATION_KEYS.items()
        ],
        "asked": question_texts(question),
        "pieces": [[piece.text, *piece.marks] for piece in passage.pieces],
        "notes": passage.notes,
        "next": desk.next_open(place + 1),
        "own": None if own is None else judgement_view(own),
        "others": [judgement_view(one) for one in desk.others(question.key)],
    }


def judgement_view(one: Judgement) -> dict[str, Any]:
    """A judgement as the page shows it."""
    answers = one.answers
    return {
        "judge": one.judge,
        "label": one.verdict.label,
        "valid": None if answers is None else answers.valid,
        "same_as": list(one.verdict.references if answers is None else answers.same_as),
        "relation": None if answers is None else answers.relation,
        "summary": summary(answers, one.question),
        "remark": one.verdict.explanation,
    }


def differences_view(desk: Desk, other: str) -> dict[str, Any]:
    """The questions that two people answered differently, and who decides."""
    experience = {name: experience for name, (_, experience) in desk.store.judges().items()}
    mine, theirs = experience.get(desk.name, 0), experience.get(other, 0)
    decides = "" if mine == theirs else desk.name if mine > theirs else other
    return {
        "other": other,
        "decides": decides,
        "differences": [
            {
                "place": one.place, "candidate": one.first.question.candidate, "role": one.first.question.role,
                "trigger": one.first.question.trigger, "references": one.first.question.references,
                "first": judgement_view(one.first), "second": judgement_view(one.second),
            }
            for one in desk.differences(other)
        ],
    }  # fmt: skip


# -- the server -------------------------------------------------------------------------------------------------------


LOOPBACK = "127.0.0.1"
NAMES = ("127.0.0.1", "localhost")
"""The host names that are accepted; with any port, since a tunnel may use another."""
LARGEST = 65536
"""The most bytes of one answer."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PARTS = {"/judge.css": "text/css", "/judge.js": "text/javascript", "/judge.svg": "image/svg+xml"}


class SentAnswer(msgspec.Struct):
    """An answer as the page sends it."""

    annotator: str
    key: str
    valid: bool
    same_as: tuple[int, ...] = ()
    relation: Relation | None = None
    remark: str = ""


class Refused(Exception):
    """A refused request, with the status and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class JudgeServer(ThreadingHTTPServer):
    """A server for one store; a person opens its `address`."""

    daemon_threads = True

    def __init__(self, store: Store, port: int = 0, annotator: str | None = None) -> None:
        if annotator is not None:
            annotator = person_name(store, annotator)
        self.store, self.annotator = store, annotator
        self.token = secrets.token_urlsafe(24)
        self.lock = threading.Lock()
        super().__init__((LOOPBACK, port), Handler)

    @property
    def address(self) -> str:
        """The address with its token."""
        return f"http://{LOOPBACK}:{self.server_port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The cookie's name, with the port: cookies do not distinguish ports, and two servers may run."""
        return f"tallystick_{self.server_port}"

    def page(self) -> str:
        """The page; its script loads everything else."""
        from html import escape

        source = files("tallystick.judging").joinpath("page/judge.html").read_text(encoding="utf-8")
        values = {"store": self.store.path.name, "version": __version__, "annotator": self.annotator or ""}
        return re.sub(r"\{\{ (\w+) \}\}", lambda found: escape(values[found[1]]), source)


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    server: JudgeServer
    protocol_version = "HTTP/1.1"
    timeout = 120

    def version_string(self) -> str:
        """The server's name in its headers."""
        return "tallystick"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the log lines would contain the address, and so the token."""

    def do_GET(self) -> None:
        """Serve the page, its parts, and the data it asks for."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Save an answer."""
        self._answer(self._post)

    # -- access ------------------------------------------------------------------------------------------------------

    def _check_host(self) -> None:
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or urlsplit(f"//{hosts[0]}").hostname not in NAMES:
            raise Refused(403, f"this page is only served under the name of this machine, http://{LOOPBACK}")

    def _check_token(self, given: str | None) -> bool:
        """Whether the token was in the address (then the cookie is set); an error if it is missing or wrong."""
        if given is not None and secrets.compare_digest(given.encode(), self.server.token.encode()):
            return True
        try:
            kept = SimpleCookie(self.headers.get("Cookie", "")).get(self.server.cookie)
        except CookieError:
            kept = None
        if kept is None or not secrets.compare_digest(kept.value.encode(), self.server.token.encode()):
            raise Refused(403, "open the address that `tallystick judge serve` has printed: it carries a token")
        return False

    def _check_origin(self, *, writing: bool) -> None:
        """Refuse what another site's page sends, even if that page could not read the answer."""
        origin, host = self.headers.get("Origin"), self.headers.get("Host")
        if (writing or origin is not None) and origin != f"http://{host}":
            raise Refused(403, "the request does not come from this page")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise Refused(403, "the request comes from another site")

    # -- requests -----------------------------------------------------------------------------------------------------

    def _get(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        self._check_host()
        if parts.path == "/":
            fresh = self._check_token(asked.get("token"))
            if not fresh:
                self._check_origin(writing=False)
            cookie = f"{self.server.cookie}={self.server.token}; HttpOnly; SameSite=Strict; Path=/"
            self._send(200, "text/html", self.server.page().encode(), {"Set-Cookie": cookie} if fresh else {})
            return
        self._check_token(None)
        self._check_origin(writing=False)
        if parts.path in PARTS:
            content = files("tallystick.judging").joinpath(f"page{parts.path}").read_bytes()
            self._send(200, PARTS[parts.path], content)
            return
        with self.server.lock:
            self._send_json(200, self._api_value(parts.path, asked))

    def _api_value(self, path: str, asked: dict[str, str]) -> Any:
        store = self.server.store
        if path == "/api/state":
            name = asked.get("annotator")
            return state_view(store, Desk(store, name) if name else None)
        if path == "/api/question":
            return question_view(Desk(store, asked.get("annotator", "")), _whole_number(asked.get("place")))
        if path == "/api/differences":
            return differences_view(Desk(store, asked.get("annotator", "")), asked.get("other", ""))
        raise Refused(404, "there is nothing here")

    def _post(self) -> None:
        self._check_host()
        self._check_origin(writing=True)
        self._check_token(None)
        if urlsplit(self.path).path != "/api/answer":
            raise Refused(404, "there is nothing here")
        if (self.headers.get("Content-Type") or "").split(";")[0].strip() != "application/json":
            raise Refused(415, "an answer is sent as application/json")
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or len(length) > 18 or int(length) > LARGEST:
            raise Refused(413, f"an answer must have a length of at most {LARGEST} bytes")
        try:
            sent = msgspec.json.decode(self.rfile.read(int(length)), type=SentAnswer)
        except msgspec.MsgspecError as error:
            raise Refused(400, f"not an answer: {error}") from None
        answers = Answers(sent.valid, sent.same_as, sent.relation)
        with self.server.lock:
            desk = Desk(self.server.store, sent.annotator)
            question = self.server.store.question(sent.key)
            if question is None:
                raise Refused(404, "this question is not in the store any more")
            verdict = desk.answer(question, answers, sent.remark)
            place = desk.queue().index(sent.key)
            self._send_json(
                200,
                {
                    "label": verdict.label,
                    "next": desk.next_open(place + 1),
                    "state": state_view(self.server.store, desk),
                },
            )

    # -- responses -----------------------------------------------------------------------------------------------------

    def _answer(self, work: Any) -> None:
        try:
            work()
        except Refused as refused:
            self.close_connection = True  # do not read the rest of the request
            self._send_json(refused.status, {"error": str(refused)})
        except TallystickError as error:
            self._send_json(400, {"error": str(error)})
        except (BrokenPipeError, ConnectionError, TimeoutError):
            self.close_connection = True  # the client is gone
        except Exception as error:  # report it on the page, which would otherwise wait for ever
            self.close_connection = True
            self._send_json(500, {"error": f"the server failed ({type(error).__name__}: {error}); nothing was saved"})

    def _send_json(self, status: int, value: Any) -> None:
        self._send(status, "application/json", json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))

    def _send(self, status: int, kind: str, content: bytes, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in {**HEADERS, **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def _whole_number(text: str | None) -> int:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 18:
        raise InputError(f"expected the number of a question, found {text!r:.60}")
    return int(text)
