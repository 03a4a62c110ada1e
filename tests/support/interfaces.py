"""Real chat interfaces, written by others, in front of a back end that knows the truth: each in its own process.

    python -m tests.support.interfaces NAME [scenario|alice]   # one of NAMES or FURTHER: prints addresses, waits
    python -m tests.support.interfaces pages                   # the awkward pages, likewise

In tests `interface(NAME, BACK_END)` is a context manager; the interface and its back end live as long as the `with`.
They end with whoever started them, even if that one is killed (see servers/leash.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.servers.kit_chat import KITS, kits
from tests.servers.leashed import answers, direct, free_port, leashed
from tests.servers.page_replies import PAGES
from tests.support.checkout import ROOT, TESTS

NAMES = ("deep-chat", "gradio", "chainlit")
QUICK = NAMES[:2]
"""Those that are soon there; the third takes long to install and to start. Every run of the tests plays the first."""
FURTHER = ("n8n-chat", "streamlit")
"""Played where a turn must go once and with every short answer, and not held to every kind of reply."""
SOCKETS = ("nicegui", "shiny", "panel")
REQUESTS = ("mesop", *KITS)
NEW = (*SOCKETS, *REQUESTS)
"""Those only test_interfaces.py counts over: three whose turns go over a web socket, three whose turns are requests."""
TAKING_FILES = ("deep-chat", "gradio", "streamlit", "chainlit")
BACK_ENDS = ("scenario", "alice")


@dataclass(frozen=True, slots=True)
class Truth:
    """What the back end said in one turn. answer: the whole reply in Markdown, its `bubbles` joined by empty lines.
    links: (text, href). pieces: (time.time(), characters sent so far). last: when the last character left, None if
    none did. outcome: complete, error, broken or gone. way: stream or say."""

    session: str
    turn: int
    text: str
    kind: str
    way: str
    token: str
    answer: str
    bubbles: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    asked: float
    pieces: tuple[tuple[float, int], ...]
    last: float | None
    ended: float
    outcome: str

    @staticmethod
    def read(line: str) -> Truth:
        value = json.loads(line)
        value["bubbles"] = tuple(value["bubbles"])
        value["links"] = tuple((link["text"], link["href"]) for link in value["links"])
        value["pieces"] = tuple((when, count) for when, count in value["pieces"])
        return Truth(**value)


@dataclass(frozen=True, slots=True)
class BackEnd:
    """name: scenario or alice. url: where it is, see servers/scenario.py."""

    name: str
    url: str

    @property
    def http_options(self) -> dict[str, Any]:
        """Options of the `http` driver that ask the back end itself."""
        return {
            "url": f"{self.url}/say",
            "body": {"session": "{{ session }}", "text": "{{ text }}"},
            "reply": "$.answer",
            "session": "client",
            "stateful": True,
        }

    def truth(self, after: int = 0) -> list[Truth]:
        """Every turn that has ended, in that order, from number `after` on."""
        with direct().open(f"{self.url}/truth?after={after}", timeout=10) as response:
            return [Truth.read(line) for line in response.read().decode().splitlines()]

    def truth_of(self, text: str, session: str | None = None, seconds: float = 10.0) -> Truth:
        """The newest turn in which `text` was asked; waits until it has ended. Raises AssertionError after that.

        Boxes with one line have no line breaks, and some editors double them: white space is not compared."""
        deadline = time.monotonic() + seconds
        while True:
            for truth in reversed(self.truth()):
                if truth.text.split() == text.split() and session in (None, truth.session):
                    return truth
            assert time.monotonic() < deadline, f"the back end never ended a turn with {text!r}"
            time.sleep(0.05)


@dataclass(frozen=True, slots=True)
class Interface:
    """name: of NAMES or FURTHER. url: its page; for deep-chat, /plain and /socket are pages as well."""

    name: str
    url: str
    back_end: BackEnd

    @property
    def back_end_url(self) -> str:
        return self.back_end.url

    @property
    def http_options(self) -> dict[str, Any]:
        return self.back_end.http_options

    def truth(self, after: int = 0) -> list[Truth]:
        return self.back_end.truth(after)

    def truth_of(self, text: str, session: str | None = None, seconds: float = 10.0) -> Truth:
        return self.back_end.truth_of(text, session, seconds)


@contextlib.contextmanager
def interface(name: str, back_end: str = "scenario", *, files: bool = False) -> Iterator[Interface]:
    """The interface, ready to be opened, with a back end of its own. files: one of TAKING_FILES takes files, too."""
    with back_end_server(back_end) as behind, interface_to(name, behind, files=files) as running:
        yield running


@contextlib.contextmanager
def back_end_server(name: str = "scenario") -> Iterator[BackEnd]:
    """The back end alone: `scenario` or `alice`."""
    assert name in BACK_ENDS, name
    with served([sys.executable, "-m", "tests.servers.scenario", "0", name]) as port:
        yield BackEnd(name, f"http://127.0.0.1:{port}")


@contextlib.contextmanager
def interface_to(name: str, back_end: BackEnd, *, files: bool = False) -> Iterator[Interface]:
    """One more interface to a back end that exists already."""
    if name == "deep-chat":
        from tests.servers.npm_package import DEEP_CHAT

        bundle = DEEP_CHAT.folder() / "dist" / "deepChat.bundle.js"
        command = [sys.executable, "-m", "tests.servers.deep_chat", back_end.url, str(bundle)]
        with served(command) as port:
            yield Interface(name, f"http://127.0.0.1:{port}/{'plain?files' if files else ''}", back_end)
        return
    if name == "n8n-chat":
        from tests.servers.npm_package import N8N_CHAT

        with served(
            [sys.executable, "-m", "tests.servers.n8n_chat", back_end.url, str(N8N_CHAT.folder() / "dist")]
        ) as port:
            yield Interface(name, f"http://127.0.0.1:{port}/", back_end)
        return
    if name in KITS:
        command = [sys.executable, "-m", "tests.servers.kit_chat", back_end.url, name, str(kits())]
        with served(command) as port:
            yield Interface(name, f"http://127.0.0.1:{port}/", back_end)
        return
    from tests.servers.environment import python_environment

    assert name in (*NAMES, *FURTHER, *SOCKETS, "mesop"), name
    programs = python_environment(name) / "bin"
    with tempfile.TemporaryDirectory(prefix=f"harvest-{name}-", ignore_cleanup_errors=True) as folder:
        quiet = {
            "HOME": folder,
            "BACK_END": back_end.url,
            "GRADIO_ANALYTICS_ENABLED": "False",
            "GRADIO_TEMP_DIR": folder,
            "HF_HUB_OFFLINE": "1",
            "CHAINLIT_APP_ROOT": folder,
            "OTEL_SDK_DISABLED": "true",
            **({"TAKES_FILES": "yes"} if files else {}),
        }
        with _at_a_free_port(lambda port: _command(name, programs, back_end, port), Path(folder), quiet) as port:
            yield Interface(name, f"http://127.0.0.1:{port}/", back_end)


def _command(name: str, programs: Path, back_end: BackEnd, port: int) -> list[str]:
    if name in ("gradio", "nicegui"):
        return [str(programs / "python"), "-m", f"tests.servers.{name}_chat", back_end.url, str(port)]
    page = str(TESTS / "servers" / f"{name}_chat.py")
    host = "127.0.0.1"
    if name == "streamlit":
        where = ["--server.address", host, "--server.port", str(port)]
        quiet = ["--server.headless", "true", "--browser.gatherUsageStats", "false", "--server.fileWatcherType", "none"]
        return [str(programs / "streamlit"), "run", page, *where, *quiet]
    if name == "panel":
        anywhere = ["--allow-websocket-origin", "*"]  # behind a proxy the page has another port
        return [str(programs / "panel"), "serve", page, "--index", "panel_chat", "--port", str(port), *anywhere]
    if name == "mesop":
        return [str(programs / "mesop"), page, "--prod", "--port", str(port)]
    quiet = ["--headless"] if name == "chainlit" else []
    return [str(programs / name), "run", page, *quiet, "--host", host, "--port", str(port)]


@dataclass(frozen=True, slots=True)
class Pages:
    """The awkward pages; see servers/page_replies.py for their names and what must come of them."""

    behind: BackEnd

    def url(self, name: str) -> str:
        return f"{self.behind.url}/{name}"

    def truth(self, after: int = 0) -> list[Truth]:
        """As of the scenario server; `kind` is the page's name, `bubbles` are HTML."""
        return self.behind.truth(after)

    def truth_of(self, text: str, session: str | None = None, seconds: float = 10.0) -> Truth:
        return self.behind.truth_of(text, session, seconds)


@contextlib.contextmanager
def awkward_pages() -> Iterator[Pages]:
    """The server of the awkward pages."""
    with served([sys.executable, "-m", "tests.servers.awkward_pages"]) as port:
        yield Pages(BackEnd("pages", f"http://127.0.0.1:{port}"))


@contextlib.contextmanager
def served(command: Sequence[str]) -> Iterator[int]:
    """Run one of our own servers, which writes its port as its first line."""
    with leashed(command, environment=_environment()) as running:
        yield int(running.first_line())


def _environment(**more: str) -> Mapping[str, str]:
    # Some servers behave otherwise where they take themselves to be under test.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return {**inherited, "PYTHONPATH": str(ROOT), "NO_PROXY": "*", "PYTHONUNBUFFERED": "1", **more}


@contextlib.contextmanager
def _at_a_free_port(
    command: Callable[[int], Sequence[str]], folder: Path, more: Mapping[str, str], tries: int = 3
) -> Iterator[int]:
    """Run a server that must be told its port; another one if somebody takes that port in between."""
    for left in reversed(range(tries)):
        port = free_port()
        with leashed(command(port), folder, _environment(**more)) as running:
            try:
                running.wait_for(partial(answers, f"http://127.0.0.1:{port}/"))
            except AssertionError:
                if left:
                    continue
                raise
            yield port
            return


def main() -> None:
    name, back_end = (*sys.argv[1:], "scenario")[:2]
    if name == "pages":
        with awkward_pages() as pages, contextlib.suppress(KeyboardInterrupt):
            print("\n".join(pages.url(page) for page in PAGES))
            threading.Event().wait()
        return
    with interface(name, back_end) as running:
        print(f"page      {running.url}\nback end  {running.back_end_url}\ntruth     {running.back_end_url}/truth")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
