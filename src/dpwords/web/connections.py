"""Connections to the page's server: clients that are slow, or silent, keep nobody out."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 64  # connections at a time; beyond it, the one that has kept the server waiting for longest is closed
PATIENCE = 10.0  # seconds for the head of a request; the body has its own time


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
