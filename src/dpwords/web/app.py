"""The page's server: static files, and one address for each task."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from dpwords.errors import DPWordsError, TooLarge
from dpwords.web import tasks
from dpwords.web.guard import Guard
from dpwords.web.messages import CONTENT_TYPE, Message, decoded, on_page
from dpwords.web.workers import Event, Worker

STATIC = Path(__file__).parent / "static"
_BODY_TIME = 60  # seconds in which the body of a request has to arrive
Answering = Generator[tuple[Event, Any] | None]


def create_app(port: int, token: str) -> Starlette:
    """The application, for a server at this port of the loopback address. Requests need the token."""
    mimetypes.add_type("text/javascript", ".js")  # some systems say otherwise
    workers = {lane: Worker(tasks.answer) for lane in ("quick", "long")}

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        workers["quick"].start()  # while the browser opens
        yield
        for worker in workers.values():
            worker.stop()

    async def page(_request: Request) -> Response:
        return HTMLResponse(whole_page(token))

    async def ask(request: Request) -> Response:
        name = request.path_params["name"]
        task = tasks.TASKS.get(name)
        if task is None:
            return _refused("the page asked for something that this version does not know: reload the page", 404)
        try:
            question = decoded(await _body(request, task.bytes))
            events = workers[task.lane].ask(name, question, task.seconds)
            if task.lane == "long":
                return StreamingResponse(_streamed(events), media_type=CONTENT_TYPE)
            return await run_in_threadpool(_waited, events)
        except DPWordsError as error:
            return _refused(on_page(error))

    return Starlette(
        routes=[
            Route("/", page),
            Route("/ask/{name:path}", ask, methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, port=port, token=token)],
        lifespan=lifespan,
    )


def whole_page(token: str) -> str:
    """The page: the frame with the views in it. Each view has a file of its own, and so have parts that views share."""

    def filled(name: str, view: str) -> str:
        given = {"token": token, "view": view}
        text = (STATIC / f"{name}.html").read_text(encoding="utf-8").rstrip()
        return re.sub(r"{{(\w+)}}", lambda found: given.get(found[1]) or filled(found[1], view or found[1]), text)

    return filled("index", view="")


async def _body(request: Request, most: int) -> bytes:
    """The body of a request, if it is not too large and arrives in time. It stays in memory."""
    too_large = TooLarge(f"the page takes at most {most // 2**10:,} kB here: use the command line for more")
    if int(request.headers.get("content-length") or 0) > most:
        raise too_large
    parts: list[bytes] = []
    try:
        with anyio.fail_after(_BODY_TIME):
            async for part in request.stream():
                parts.append(part)
                if sum(map(len, parts)) > most:
                    raise too_large
    except (TimeoutError, ClientDisconnect):
        raise TooLarge("the request did not arrive in time: try again") from None
    return b"".join(parts)


def _waited(events: Answering) -> Response:
    """The response to a quick question."""
    with closing(events):
        kind, value = next(event for event in events if event is not None)
    return Response(value.encoded(), media_type=CONTENT_TYPE) if kind == "done" else _refused(value)


async def _streamed(events: Answering) -> AsyncIterator[bytes]:
    """The lines of the answer to a long question: {"progress": fraction}, …, then the answer or {"error": reason}.

    If the browser goes away, or the user cancels, the computation ends, too.
    """
    try:
        kind: Event = "progress"
        while kind == "progress":
            try:
                event = await run_in_threadpool(next, events)
            except DPWordsError as error:
                event = "refused", on_page(error)
            if event is not None:
                kind, value = event
                answer = value if kind == "done" else Message({"error" if kind == "refused" else kind: value})
                yield answer.encoded()
    finally:
        with anyio.CancelScope(shield=True):
            await run_in_threadpool(events.close)


def _refused(reason: str, status: int = 400) -> Response:
    return Response(Message({"error": reason}).encoded(), status_code=status, media_type=CONTENT_TYPE)
