"""Clients that connect and then let the page's server wait: they keep nobody out."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

import browser
from dpwords.web.guard import MOST
from web.test_server import QUESTION, SECONDS, Client

MANY = 80


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with browser.server() as address:
        yield Client(address)


def connected(client: Client, sent: bytes) -> socket.socket:
    """A connection on which something was sent, and nothing is read."""
    host, _, port = client.host.partition(":")
    found = socket.create_connection((host, int(port)), timeout=SECONDS)
    found.sendall(sent)
    return found


def head(client: Client, method: str, path: str, more: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nhost: {client.host}\r\n{more}".encode()


def half_open(client: Client) -> dict[str, bytes]:
    """What a client can send and then let the server wait."""
    own = f"x-dpwords-token: {client.token}\r\ncontent-length: {len(QUESTION)}\r\n"
    return {
        "nothing": b"",
        "a part of the head": head(client, "GET", "/"),
        "a part of the body": head(client, "POST", "/ask/words/release", own) + b"\r\n" + QUESTION[:-5],
        "much, and no answer is read": (head(client, "GET", "/static/page.js") + b"\r\n") * 100,
        "a body that nobody wants": head(client, "POST", "/ask/words/release", "content-length: 99\r\n") + b"\r\nx",
    }


@pytest.mark.parametrize("kind", ["nothing", "a part of the head", "a part of the body", "much, and no answer is read"])
def test_half_open_connections_keep_nobody_out(client: Client, kind: str) -> None:
    assert MANY > MOST
    with ExitStack() as stack:
        for _ in range(MANY):
            stack.enter_context(connected(client, half_open(client)[kind]))
        assert client.get("/").status == 200
        answer = client.ask()
        assert answer.status == 200
        assert len(answer.values["releases"]) == 12


@contextmanager
def impatient_server() -> Iterator[Client]:
    """A page whose server waits for a tenth of a second."""
    code = "import dpwords.web.guard as c, dpwords.web.server as s; c.PATIENCE = 0.1; s.serve(0, print)"
    command = [sys.executable, "-u", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Client(process.stdout.readline().strip())
        finally:
            process.terminate()


def test_the_head_of_a_request_has_to_arrive_in_time() -> None:
    """Silent clients are closed, also between two requests; one whose answer is computed meanwhile is not."""
    with impatient_server() as client:
        assert client.ask().status == 200  # which takes longer, since its process has to start
        for kind in ("nothing", "a part of the head", "a body that nobody wants"):
            with connected(client, half_open(client)[kind]) as silent:
                while silent.recv(2**16):  # until the server closes the connection
                    pass
        whole = head(client, "GET", "/static/page.js") + b"\r\n"
        with connected(client, whole + half_open(client)["a part of the head"]) as slow:
            while slow.recv(2**16):
                pass
