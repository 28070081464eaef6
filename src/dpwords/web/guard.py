"""Who may talk to the page's server: browsers on this machine that show the page itself.

The server listens on the loopback address only. Any site that is open in the same browser can still send requests
there, and can make its own name point there (DNS rebinding). So requests need a host name of this machine, the page's
own origin, and, unless they only read the page, the token that the page was given. Clients that are slow, or silent,
keep nobody out.
"""

from __future__ import annotations

import asyncio
import hmac
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

TOKEN_HEADER = "x-dpwords-token"
HOSTS = ("127.0.0.1", "localhost")
MOST = 64  # connections at a time; beyond it, the one that has kept the server waiting for longest is closed
PATIENCE = 10.0  # seconds for the head of a request; the body has its own time
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Refuses requests from elsewhere, and adds the headers that restrict what the page can load and who may frame it.

    `token` is made anew for each server; the page sends it with every request that is not a plain GET.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = {f"{host}:{port}" for host in HOSTS} | ({*HOSTS} if port == 80 else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the page has no web sockets; the server's own start and end pass
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        app = self._app if refusal is None else PlainTextResponse(refusal, status_code=403)
        await app(scope, receive, send_with_headers)

    def _refusal(self, method: str, headers: Headers) -> str | None:
        """Why the request is refused; None if it is not."""
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or host not in self._hosts:
            return (
                "this page is for browsers on the machine on which it runs: open it as http://127.0.0.1 with its port"
            )
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return "requests from other origins are refused: open the page itself"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "requests from other sites are refused: open the page itself"
        if method in ("GET", "HEAD"):
            return None
        if not hmac.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self._token.encode()):
            return "the token of the page is missing or from an earlier start: reload the page"
        return None


class Connection(H11Protocol):
    """A connection that is closed when its client lets the server wait: after some time, or when others need its place.

    The server waits for a request, for the rest of one, or for somebody to read its answer. While an answer is being
    computed, the client waits, and its connection stays.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a new client, in the place of one that lets the server wait if there are too many."""
        super().connection_made(transport)
        self._begin_waiting()
        if len(self.connections) > MOST:
            others = [each for each in self.connections if isinstance(each, Connection) and each is not self]
            oldest = min((each for each in others if each.is_waiting), key=lambda each: each.since, default=None)
            if oldest is not None:
                oldest.give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._begin_waiting()
        super().on_response_complete()

    @property
    def is_waiting(self) -> bool:
        """Whether the server waits for the client."""
        return self._has_no_request or self.cycle.more_body or self.flow.write_paused

    def give_up(self) -> None:
        """Close the connection at once."""
        self.connections.discard(self)
        self.transport.abort()

    @property
    def _has_no_request(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _begin_waiting(self) -> None:
        timer: Any = getattr(self, "_timer", None)
        if timer is not None:
            timer.cancel()
        self.since = self.loop.time()
        self._timer = self.loop.call_later(PATIENCE, self._look)

    def _look(self) -> None:
        """Close the connection if the request has not begun by now."""
        if self._has_no_request:
            self.give_up()
