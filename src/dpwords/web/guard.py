"""Who may talk to the page's server: browsers on this machine that show the page itself.

The server listens on the loopback address only. Any site that is open in the same browser can still send requests
there, and can make its own name point there (DNS rebinding). So requests need a host name of this machine, the page's
own origin, and, unless they only read the page, the token that the page was given.
"""

from __future__ import annotations

import hmac
import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "x-dpwords-token"
HOSTS = ("127.0.0.1", "localhost")
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


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)
