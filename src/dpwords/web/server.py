"""Starting the page on this machine."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable

from dpwords.core.checks import optional
from dpwords.errors import InvalidValue, named

_PURPOSE = "the page and its server"


def serve(port: int, ready: Callable[[str], None]) -> None:
    """Serve the page on the loopback address until Ctrl-C. `ready` is called with its address once it can be opened.

    Port 0 stands for any free port. Nothing is logged: requests contain private words.
    """
    for package in ("starlette", "uvicorn", "pyarrow"):
        optional(package, "web", _PURPOSE)
    import uvicorn

    from dpwords.web.app import create_app
    from dpwords.web.guard import MOST, Connection

    with _listening(port) as listener:
        own = listener.getsockname()[1]
        config = uvicorn.Config(
            create_app(own, token=secrets.token_urlsafe(32)),
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            http=Connection,
            ws="none",
            limit_concurrency=2 * MOST,  # which is only reached if as many answers are being computed
            timeout_graceful_shutdown=1,
        )
        ready(f"http://127.0.0.1:{own}/")  # the socket listens: whoever opens the page now waits for a moment
        uvicorn.Server(config).run(sockets=[listener])


def _listening(port: int) -> socket.socket:
    """A socket that is bound to this port of the loopback address."""
    if not 0 <= port < 2**16:
        raise InvalidValue(f"{named('port')} is a number from 0 to 65535: take for example {named('port', 8642)}")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # so that answers are not delayed
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise InvalidValue(
            f"port {port} cannot be used ({error.strerror}): choose another one with "
            f"{named('port')}, or {named('port', 0)} for a free one"
        ) from None
    return listener
