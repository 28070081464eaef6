"""The page's server: who may talk to it, what it refuses, and what it leaves behind."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import browser
from dpwords.core import limits
from dpwords.errors import NO_MEMORY, TooLarge
from dpwords.plots.palette import COLOURS
from dpwords.web import tasks
from dpwords.web.app import STATIC
from dpwords.web.guard import HEADERS
from dpwords.web.messages import Message
from dpwords.web.workers import ShowProgress, Worker

SECONDS = 240  # that an answer or a process may take on a busy machine
QUESTION = Message({"word": "abba", "recipe": {"alphabet": "ab", "epsilon": 2}}).encoded()


class Answer(NamedTuple):
    """What the server sent back."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def values(self) -> Any:
        return json.loads(self.text)


class Client:
    """Sends requests to a running page, with the headers that a browser would send, unless a test changes them."""

    def __init__(self, address: str) -> None:
        self.host = address.removeprefix("http://").rstrip("/")
        self.token = self.get("/").text.partition('name="dpwords-token" content="')[2].partition('"')[0]

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        return self.send(method, path, headers, None)

    def ask(self, body: Any = QUESTION, task: str = "words/release", **changed: str | None) -> Answer:
        own = {"x_dpwords_token": self.token, "origin": f"http://{self.host}", "sec_fetch_site": "same-origin"}
        headers = {name: value for name, value in (own | changed).items() if value is not None}
        return self.send("POST", f"/ask/{task}", headers, body)

    def send(self, method: str, path: str, headers: dict[str, str], body: Any) -> Answer:
        named = {
            name.replace("_", "-"): text.replace("PORT", self.host.rpartition(":")[2]) for name, text in headers.items()
        }
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        connection.request(method, path, body, named)
        response = connection.getresponse()
        found = Answer(response.status, {n.lower(): v for n, v in response.getheaders()}, response.read().decode())
        connection.close()
        return found


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with browser.server() as address:
        yield Client(address)


def test_the_page_itself_and_its_question_are_answered(client: Client) -> None:
    assert len(client.token) > 40
    answer = client.ask()
    assert answer.status == 200
    assert len(answer.values["releases"]) == 12
    assert client.ask(host="localhost:PORT", origin="http://localhost:PORT").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:PORT"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:80"},
        {"host": "127.0.0.1:PORT.evil.example"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9"},
        {"origin": "https://127.0.0.1:PORT"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"x_dpwords_token": None},
        {"x_dpwords_token": ""},
        {"x_dpwords_token": "other"},
    ],
)
def test_requests_from_elsewhere_are_refused(client: Client, headers: dict[str, str | None]) -> None:
    answer = client.ask(**headers)
    assert answer.status == 403
    assert "releases" not in answer.text
    assert client.token not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:PORT", ""])
def test_another_host_does_not_get_the_token(client: Client, host: str) -> None:
    answer = client.get("/", host=host)
    assert answer.status in (400, 403)
    assert client.token not in answer.text


def test_another_site_can_neither_read_nor_ask_for_permission(client: Client) -> None:
    asks = {"origin": "http://evil.example", "access_control_request_method": "POST"}
    answers = [client.get("/ask/words/release", "OPTIONS", **asks), client.get("/", **asks), client.ask()]
    assert [answer.status for answer in answers] == [403, 403, 200]
    assert not any(name.startswith("access-control") for answer in answers for name in answer.headers)


@pytest.mark.parametrize("path", ["/", "/static/page.js", "/static/missing.js", "/nothing"])
def test_every_answer_restricts_what_the_page_may_load(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/app.py"])
def test_only_files_of_the_page_are_served(client: Client, path: str) -> None:
    assert client.get(path).status == 404


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "could not be read"),
        (b"[1]\n", "could not be read"),
        (b"{\n", "could not be read"),
        (b"[" * 100_000, "could not be read"),
        (b"\xff\xfe\n", "could not be read"),
        (b"{}\n", "recipe is missing"),
        (QUESTION.replace(b'"ab"', b'"@/etc/passwd"'), "must not name a path"),
        (QUESTION.replace(b"2}", b"0}"), "“ε of each word” must be a finite number above 0"),
        (QUESTION.replace(b"2}", b"1e999}"), "“ε of each word” must be a finite number above 0"),
        (QUESTION.replace(b"2}", b"NaN}"), "“ε of each word” must be a finite number above 0"),
        (QUESTION.replace(b"2}", b'"2"}'), "“ε of each word” must be a finite number above 0"),
        (QUESTION.replace(b"2}", b'2, "seed": 1}'), "not known here"),
        (QUESTION.replace(b'"ab"', b"3"), "“Alphabet” must be a text"),
        (QUESTION.replace(b"abba", b"a" * 100_000), "at most"),
        (QUESTION.replace(b"abba", b"a" * 300_000), "takes at most 256 kB"),
        (QUESTION.replace(b"abba", b""), "the word is empty"),
        ([b"x" * 2**16] * 5, "takes at most 256 kB"),  # sent in pieces, without a length
    ],
)
def test_bad_questions_get_one_line(client: Client, body: Any, said: str) -> None:
    answer = client.ask(body)
    assert answer.status == 400
    assert said in answer.values["error"]
    assert answer.text.count("\n") == 1
    assert "abba" not in answer.text


def test_unknown_tasks_are_refused(client: Client) -> None:
    assert client.ask(task="words/everything").status == 404
    assert client.ask(task="../app").status == 404


def slow(_task: str, question: Message, progress: ShowProgress) -> Message:
    """A task that counts, for ever if it is asked to; at the value "crash" its process dies."""
    if question.values.get("crash"):
        os._exit(1)
    progress(0.5)
    while question.values.get("endless"):
        time.sleep(0.01)
    return Message({"process": os.getpid()})


def answer_of(worker: Worker, question: Message, seconds: float = 60.0) -> Any:
    *_others, (kind, value) = (event for event in worker.ask("any", question, seconds) if event is not None)
    assert kind == "done"
    return value.values["process"]


def test_a_task_that_takes_too_long_is_ended_and_the_next_one_is_answered() -> None:
    worker = Worker(slow)
    first = answer_of(worker, Message({}))
    assert answer_of(worker, Message({})) == first
    with pytest.raises(TooLarge, match=r"longer than 0\.2 seconds"):
        answer_of(worker, Message({"endless": True}), seconds=0.2)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    second = answer_of(worker, Message({}))
    assert second != first
    with pytest.raises(TooLarge, match="out of memory"):
        answer_of(worker, Message({"crash": True}))
    events = worker.ask("any", Message({"endless": True}), 60.0)
    assert next(event for event in events if event is not None) == ("progress", 0.5)
    events.close()  # as if the browser went away
    assert answer_of(worker, Message({})) not in (first, second)
    worker.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_a_task_that_needs_too_much_memory_is_refused_and_the_process_goes_on() -> None:
    """A map of a million cells takes some 800 MiB; the process may take 512 MiB more than it has when it starts."""
    worker = Worker(tasks.answer, memory=2**29)

    def asked(content: bytes) -> tuple[str, Any]:
        question = Message({"name": "map.txt"}, content)
        *_others, last = (event for event in worker.ask("runs/load", question, SECONDS) if event is not None)
        return last

    kind, small = asked(b"S..\n..G\n")
    assert (kind, len(small.values["states"])) == ("done", 6)
    process = worker._process.pid
    assert asked((b"." * 999 + b"\n") * 1001) == ("refused", NO_MEMORY)
    kind, again = asked(b"S..\n..G\n")
    assert (kind, again.values, worker._process.pid) == ("done", small.values, process)
    worker.stop()


def address_space(_task: str, _question: Message, _progress: ShowProgress) -> Message:
    """How much address space the process may still take."""
    return Message({"process": limits.address_space()})


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_all_workers_have_a_limit_of_memory() -> None:
    """Enough for the page's tasks and the libraries that they import, and not more than 5 GiB."""
    worker = Worker(address_space)
    assert 2**28 < answer_of(worker, Message({})) <= 5 * 2**30
    worker.stop()


def compiling(_task: str, question: Message, _progress: ShowProgress) -> Message:
    """A task for which Numba compiles so many loops."""
    from numba.core import event

    for _ in range(question.values["loops"]):
        with event.trigger_event("numba:compile"):
            pass
    return Message({"process": os.getpid()})


def test_compiling_loops_does_not_count_as_time_of_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(compiling)
    answer_of(worker, Message({"loops": 0}))
    clock = itertools.count()
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))  # a second goes by at each look at the clock
    answer_of(
        worker, Message({"loops": 3000}), seconds=2000.0
    )  # a minute of waiting for a busy machine would pass, too
    assert next(clock) > 3000
    worker.stop()


def failing(_task: str, _question: Message, _progress: ShowProgress) -> Message:
    raise KeyError("abba")


def test_an_unexpected_error_is_reported_without_its_text() -> None:
    worker = Worker(failing)
    *_others, (kind, value) = (event for event in worker.ask("any", Message({}), 60.0) if event is not None)
    worker.stop()
    assert kind == "refused"
    assert "KeyError in test_server.py" in value
    assert "abba" not in value


def test_the_page_has_the_colours_of_the_palette() -> None:
    light, dark = (STATIC / "colours.css").read_text(encoding="utf-8").split("@media (prefers-color-scheme: dark)")
    assert [line.strip() for line in light.splitlines() if "--" in line] == [
        f"--{name}: {colour.light};" for name, colour in COLOURS.items()
    ]
    assert [line.strip() for line in dark.splitlines() if "--" in line] == [
        f"--{name}: {colour.dark};" for name, colour in COLOURS.items()
    ]


def test_files_of_the_page_are_short_load_nothing_from_elsewhere_and_put_no_html_together() -> None:
    files = [path for path in STATIC.iterdir() if path.suffix in (".js", ".css", ".html")]
    assert {
        f"{view}{suffix}" for view in ("words", "runs", "odds", "data", "estimate") for suffix in (".js", ".html")
    } <= {path.name for path in files}
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 400, path.name
        assert "//" not in text.replace("http://www.w3.org/2000/svg", "").replace("\n//", "").replace(" //", "")[2:]
        assert not any(
            word in text for word in ("innerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=")
        )


def test_every_task_has_a_function() -> None:
    for name, task in tasks.TASKS.items():
        module = __import__(f"dpwords.web.{task.module}", fromlist=[task.function])
        assert callable(getattr(module, task.function)), name


def run_serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dpwords", "serve", "--no-browser", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def test_a_port_in_use_or_out_of_range_is_refused_in_one_line() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = run_serve("--port", str(other.getsockname()[1]))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "choose another one with --port" in done.stderr
    assert run_serve("--port", "65536").returncode == 2
    assert run_serve("--port", "-1").returncode == 2


def test_ctrl_c_ends_the_server_and_its_workers_and_nothing_is_left(tmp_path: Path) -> None:
    environment = os.environ | {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "dpwords", "serve", "--port", "0", "--no-browser"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stderr=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().partition(" at ")[2].split()[0]
            assert Client(address).ask(QUESTION.replace(b"abba", b"babababbba")).status == 200
            workers = children(process.pid)
            assert workers
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, "")
    assert err == "dpwords: interrupted\n"
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    left = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"babababbba" in each for each in left)


def children(process: int) -> list[str]:
    """The workers that a server has started, as Linux lists them."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    started = [child for path in threads for child in path.read_text(encoding="ascii").split()]
    return [child for child in started if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_browser_tests_are_skipped_or_fail_with_a_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("browser.chromium_path", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="need Chromium"):
        browser.need_browser()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="need Chromium"):
        browser.need_browser()
