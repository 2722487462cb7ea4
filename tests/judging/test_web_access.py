"""Who may ask the judging page: this machine, with the token, from the page itself."""

import http.client
import json
import threading
from urllib.parse import urlsplit

import pytest
from sample import QUESTIONS
from serving_page import served

from running import PATIENCE, run
from tallystick.judging import Question, Store
from tallystick.judging.web import HEADERS, JudgeServer

NASTY = "<script>document.body.dataset.pwned=1</script>"


@pytest.fixture
def server(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions([*QUESTIONS, Question(NASTY, (NASTY,), f"A {NASTY} text")])
        with JudgeServer(store) as made:
            thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            yield made
            made.shutdown()
            thread.join()


def ask(server, path="/", method="GET", body=None, token=True, **headers):
    host = f"127.0.0.1:{server.server_port}"
    given = {"Host": host}
    if token:
        given["Cookie"] = f"{server.cookie}={server.token}"
    if method == "POST":
        given |= {"Origin": f"http://{host}", "Content-Type": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host=True)
    content = b"" if body is None else json.dumps(body).encode() if not isinstance(body, bytes) else body
    if body is not None:
        given.setdefault("Content-Length", str(len(content)))
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(content)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, dict(response.getheaders()), text


def answer(question=QUESTIONS[0], **parts):
    return {"annotator": "anna", "key": question.key, "valid": True, "same_as": [0], "relation": "conveys", **parts}


def test_only_this_machine_is_served(server):
    assert server.socket.getsockname()[0] == "127.0.0.1"


def test_the_address_opens_the_page_and_leaves_a_cookie(server):
    path = "/" + server.address.split("/", 3)[3]
    status, headers, text = ask(server, path, token=False)
    assert (status, headers["Set-Cookie"]) == (
        200, f"{server.cookie}={server.token}; HttpOnly; SameSite=Strict; Path=/",
    )  # fmt: skip
    assert server.token not in text
    assert ask(server, "/")[0] == 200


@pytest.mark.parametrize(
    "path", ["/", "/judge.js", "/judge.css", "/api/state", "/api/question?annotator=a&place=0", "/x"]
)
def test_without_the_token_nothing_is_answered(server, path):
    for cookie in (
        None,
        f"{server.cookie}=wrong",
        f"{server.cookie}=",
        "tallystick_1=x",
        "\x01=;",
        f"{server.cookie}=é",
    ):
        status, _, text = ask(
            server, path, token=False, Cookie=cookie and cookie.encode("latin-1", "replace").decode("latin-1")
        )
        assert status == 403
        assert "it carries a token" in text
    assert ask(server, "/?token=wrong", token=False)[0] == 403
    assert ask(server, "/?token=", token=False)[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", None, "169.254.1.1"])
def test_another_name_of_this_machine_is_refused(server, host):
    """DNS rebinding: somebody's name that points here."""
    for path in ("/", f"/?token={server.token}", "/api/state", "/judge.js"):
        assert ask(server, path, Host=host)[0] in (400, 403)
    assert ask(server, "/api/answer", "POST", answer(), Host=host, Origin=f"http://{host}")[0] in (400, 403)
    assert server.store.judgements() == []


def test_localhost_and_a_tunnel_s_port_are_fine(server):
    assert ask(server, "/api/state", Host="localhost:9999")[0] == 200
    assert ask(server, "/api/answer", "POST", answer(), Host="localhost:9999", Origin="http://localhost:9999")[0] == 200


@pytest.mark.parametrize("origin", [None, "null", "https://evil.example", "http://localhost:3000", "http://127.0.0.1"])
def test_only_the_page_itself_may_write(server, origin):
    status, _, text = ask(server, "/api/answer", "POST", answer(), Origin=origin)
    assert status == 403
    assert "does not come from this page" in text
    assert server.store.judgements() == []


def test_what_another_site_asks_for_is_refused(server):
    assert ask(server, "/api/state", Sec_Fetch_Site="cross-site")[0] == 403
    assert ask(server, "/judge.js", Sec_Fetch_Site="same-site")[0] == 403
    assert ask(server, "/api/state", Origin="https://evil.example")[0] == 403
    assert ask(server, "/api/answer", "POST", answer(), Sec_Fetch_Site="cross-site")[0] == 403
    assert ask(server, "/api/state", Sec_Fetch_Site="same-origin")[0] == 200


def test_a_write_without_the_token_is_refused(server):
    assert ask(server, "/api/answer", "POST", answer(), token=False)[0] == 403
    assert server.store.judgements() == []


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        (b"{", 400, "not an answer"),
        (b"[]", 400, "not an answer"),
        (answer(valid="yes"), 400, "Expected `bool`"),
        (answer(relation="other"), 400, "Invalid enum value 'other'"),
        (answer(relation=None), 400, "question 3 needs one of"),
        (answer(valid=False), 400, "questions 2 and 3 are not asked"),
        (answer(same_as=[5]), 400, "question 2 names reference 6; there are 1"),
        (answer(key="nothing"), 404, "not in the store any more"),
        (answer(annotator=" "), 400, "a name of 1 to 80 characters"),
    ],
)
def test_what_is_no_answer_is_not_written(server, sent, status, said):
    found, _, text = ask(server, "/api/answer", "POST", sent)
    assert (found, said in json.loads(text)["error"]) == (status, True), text
    assert server.store.judgements() == []


def test_other_bodies_are_refused(server):
    assert ask(server, "/api/answer", "POST", answer(), Content_Type="text/plain")[0] == 415
    assert ask(server, "/api/answer", "POST", answer(), Content_Type="application/x-www-form-urlencoded")[0] == 415
    assert ask(server, "/api/answer", "POST", answer(remark="x" * 70000))[0] == 413
    assert ask(server, "/api/answer", "POST", b"{}", Content_Length="-1")[0] == 413
    assert ask(server, "/api/other", "POST", answer())[0] == 404
    assert ask(server, "/api/question?annotator=a&place=99")[0] == 400
    assert ask(server, "/api/question?annotator=a&place=-1")[0] == 400
    assert ask(server, "/../store.py")[0] == 404
    assert ask(server, "/", "DELETE")[0] == 501


def test_every_answer_forbids_foreign_parts(server):
    for path in ("/", "/judge.js", "/api/state", "/nothing"):
        headers = ask(server, path)[1]
        assert {name: headers[name] for name in HEADERS} == HEADERS
        assert "'unsafe" not in headers["Content-Security-Policy"]
    assert "http://" not in ask(server, "/")[2]
    assert "Access-Control-Allow-Origin" not in headers


def test_another_page_s_answers_are_seen_only_after_one_s_own(server):
    assert ask(server, "/api/answer", "POST", answer())[0] == 200
    seen = json.loads(ask(server, "/api/question?annotator=ben&place=0")[2])
    assert (seen["own"], seen["others"]) == (None, [])
    assert ask(server, "/api/answer", "POST", answer(annotator="ben", valid=False, same_as=[], relation=None))[0] == 200
    seen = json.loads(ask(server, "/api/question?annotator=ben&place=0")[2])
    assert [(one["judge"], one["label"]) for one in seen["others"]] == [("anna", "Correct")]
    state = json.loads(ask(server, "/api/state?annotator=ben")[2])
    assert [(one["with"], one["n"], one["kappa_3"]) for one in state["agreements"]] == [("anna", 1, 0.0)]


def test_markup_stays_text(server, browser):
    """A script in the document, the candidate, a reference, a remark and a person's name."""
    page = browser.new_context().new_page()
    page.goto(server.address)
    page.fill("#name", NASTY)
    page.keyboard.press("Enter")
    page.wait_for_selector("#q1")
    page.goto(
        f"http://127.0.0.1:{server.server_port}/?annotator={NASTY}&question=13".replace("<", "%3C").replace(">", "%3E")
    )
    page.wait_for_selector("#q1")
    assert page.inner_text("mark.candidate") == NASTY
    assert NASTY in page.inner_text("#q1 legend")
    page.fill("#remark", NASTY)
    page.keyboard.press("Escape")
    for key in ("1", "7", "6", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("#count:has-text('Question 1 of')")
    assert (
        ask(server, "/api/answer", "POST", answer(Question(NASTY, (NASTY,), f"A {NASTY} text"), annotator="b" + NASTY))[
            0
        ]
        == 200
    )
    page.click("#to-differences")
    page.wait_for_selector("article")
    assert page.inner_text("article").count(NASTY) >= 4
    page.click("#who")
    page.wait_for_selector(".people li")
    assert NASTY in page.inner_text(".people")
    assert page.evaluate("document.body.dataset.pwned") is None
    assert page.evaluate("document.scripts.length") == 1
    page.context.close()


def test_a_port_that_is_taken_is_said(tmp_path, server):
    done = run("judge", "serve", server.store.path, "--port", server.server_port, code=2)
    assert f"port {server.server_port} cannot be used (Address already in use)" in done.stderr


def test_stopping_says_how_far_everybody_is(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add_questions(QUESTIONS)
    with served(tmp_path / "j.sqlite") as one:
        assert urlsplit(one.address).hostname == "127.0.0.1"
        assert "stopped; judged of 12: nothing" in one.stop()
        assert one.process.returncode == 0


def test_a_number_that_is_none_is_said(server):
    for place in ("x", "9" * 5000):
        status, _, text = ask(server, f"/api/question?annotator=anna&place={place}")
        assert status == 400
        assert "expected the number of a question" in json.loads(text)["error"]


def test_a_failure_of_the_server_is_an_answer_too(server, monkeypatch):
    monkeypatch.setattr("tallystick.judging.web.state_view", lambda store, desk: 1 / 0)
    status, _, text = ask(server, "/api/state?annotator=anna")
    assert status == 500
    assert "the server failed (ZeroDivisionError: division by zero)" in json.loads(text)["error"]


def test_an_answer_after_the_store_was_moved_is_refused(server):
    first = {"annotator": "anna", "key": QUESTIONS[0].key, "valid": False}
    assert ask(server, "/api/answer", "POST", first)[0] == 200
    path = server.store.path
    path.rename(path.with_name("gone.sqlite"))
    status, _, text = ask(server, "/api/answer", "POST", {**first, "key": QUESTIONS[1].key})
    assert status == 400
    assert "was moved, deleted or replaced while it was open" in json.loads(text)["error"]
