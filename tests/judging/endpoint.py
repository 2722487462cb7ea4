"""A local server that speaks the protocol of language models, as well or as badly as a test wishes."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Endpoint:
    """`answer(body, number)` gives a text, or a `Reply`; every request is kept in `requests`."""

    def __init__(self, answer):
        self.answer, self.requests, self.at, self.lock = answer, [], [], threading.Lock()
        self.busy = self.most_busy = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                outer.serve(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def serve(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self.lock:
            number = len(self.requests)
            headers = {name.lower(): value for name, value in handler.headers.items()}  # their case is the client's
            self.requests.append((handler.path, headers, body))
            self.at.append(time.monotonic())
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
        try:
            reply = self.answer(body, number)
        finally:
            with self.lock:
                self.busy -= 1
        if isinstance(reply, str):
            reply = Reply(body=completion(reply, body["model"]))
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        try:
            handler.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client did not wait

    @property
    def candidates(self):
        """What was asked, in the order of arrival."""
        return [body["messages"][-1]["content"].rsplit(": ", 1)[1] for _, _, body in self.requests]


class Reply:
    def __init__(self, status=200, body=b"", headers=None):
        self.status, self.body, self.headers = status, body, headers or {}


def completion(text, model):
    return {
        "id": "c", "object": "chat.completion", "created": 0, "model": f"{model}-served",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }  # fmt: skip


@contextmanager
def serving(answer):
    endpoint = Endpoint(answer)
    thread = threading.Thread(target=endpoint.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.server.shutdown()
        endpoint.server.server_close()
        thread.join()
