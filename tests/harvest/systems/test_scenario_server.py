"""The servers that the browser tests are measured against: what they call the truth is what they said."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import NotSent, Opening, Surroundings, Unanswered
from tests.servers.asking import BackEndError, Piece, asked, pieces
from tests.servers.page_replies import LAYOUTS, PAGES, reply_of
from tests.servers.wished_replies import KINDS
from tests.support.checkout import ROOT, TESTS
from tests.support.interfaces import BackEnd, Truth, awkward_pages, back_end_server

SESSIONS = itertools.count(1)
REQUEST = "Please list up courtroom drama movies, listed in IMDb.\nFormat: movie title, IMDb URL"


@pytest.fixture(scope="module")
def back_end() -> Iterator[BackEnd]:
    with back_end_server() as running:
        yield running


def _streamed(back_end: BackEnd, text: str) -> tuple[list[Piece], Truth]:
    session = f"s{next(SESSIONS)}"
    return list(pieces(back_end.url, session, text)), back_end.truth_of(text, session)


def _text(got: list[Piece]) -> str:
    return "".join(("\n\n" if piece.new_bubble else "") + piece.text for piece in got)


@pytest.mark.parametrize("kind", [*sorted(set(KINDS) - {"error", "broken", "slow", "stream"}), "bubbles", "quoting"])
def test_a_stream_follows_the_truth_from_token_to_token(back_end: BackEnd, kind: str) -> None:
    got, truth = _streamed(back_end, f"scenario {kind} pause=0 pace=0")
    assert _text(got) == truth.answer
    assert truth.answer.startswith(f"Begin {truth.token}.")
    assert truth.answer.endswith(f"End {truth.token}.")
    assert truth.pieces[-1][1] == sum(map(len, truth.bubbles))
    assert truth.last == truth.pieces[-1][0]
    assert truth.outcome == "complete"


def test_an_echo_is_the_turn_itself_and_an_empty_reply_is_empty(back_end: BackEnd) -> None:
    assert _text(_streamed(back_end, "scenario echo n=1")[0]) == "scenario echo n=1"
    got, truth = _streamed(back_end, "scenario empty")
    assert (got, truth.answer, truth.last) == ([], "", None)


def test_a_pause_is_in_the_middle_and_as_long_as_requested(back_end: BackEnd) -> None:
    _, truth = _streamed(back_end, "scenario prose pause=0.5 pace=0")
    gaps = [(after[0] - before[0], before[1]) for before, after in itertools.pairwise(truth.pieces)]
    longest, where = max(gaps)
    assert 0.5 <= longest < 2
    assert abs(where - len(truth.answer) / 2) < 20


@pytest.mark.parametrize(("wish", "outcome"), [("broken=1", "broken"), ("error=1", "error")])
def test_exactly_half_a_reply_is_sent(back_end: BackEnd, wish: str, outcome: str) -> None:
    session, text = f"s{next(SESSIONS)}", f"scenario prose pace=0 {wish}"
    got: list[Piece] = []
    with pytest.raises(BackEndError) as caught:
        got.extend(pieces(back_end.url, session, text))
    truth = back_end.truth_of(text, session)
    assert caught.value.broken is (outcome == "broken")
    assert truth.outcome == outcome
    assert 0 < truth.pieces[-1][1] < len(truth.answer)


async def test_the_http_driver_gets_the_same_conversation_as_a_stream(back_end: BackEnd) -> None:
    driver = build_driver("http", back_end.http_options, Surroundings("scenario", Path()))
    session = await driver.open(Opening("scenario", "M001", 1, 1))
    over_http = [(await session.say(text)).turn.answer for text in (REQUEST, "Can you name a few more?")]
    named = f"s{next(SESSIONS)}"
    streamed = [_text(list(pieces(back_end.url, named, text))) for text in (REQUEST, "Can you name a few more?")]
    assert [answer.text for answer in over_http] == streamed
    assert asked(back_end.url, f"s{next(SESSIONS)}", REQUEST) == [streamed[0]]
    truths = [back_end.truth_of(text, named) for text in (REQUEST, "Can you name a few more?")]
    assert [[(link.text, link.href) for link in answer.links] for answer in over_http] == [
        list(truth.links) for truth in truths
    ]
    with pytest.raises(Unanswered):
        await session.say("scenario prose broken=1")
    with pytest.raises(NotSent):
        await session.say("scenario error status=429")
    await driver.close()


def test_every_page_has_its_file_and_its_replies() -> None:
    laid_out = {f"layout-{name}" for name in LAYOUTS}  # all of them in one file
    files = {path.stem for path in (TESTS / "servers" / "pages").glob("*.html")}
    assert files == {*(set(PAGES) - laid_out), "layout"}
    for page, outcomes in PAGES.items():
        for turn, outcome in enumerate(outcomes, 1):
            reply = reply_of(page, turn, "Well?")
            empty = page == "empty-named" and turn == 1
            assert bool(reply.markdown) == (
                outcome not in ("error", "silence", "rate-limit", "told", "nothing") and not empty
            )


def test_every_page_is_served_and_one_frame_comes_from_another_origin() -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def got(url: str) -> str:
        with opener.open(url, timeout=10) as response:
            return str(response.read().decode())

    with awkward_pages() as pages:
        bodies = {name: got(pages.url(name)) for name in PAGES}
        assert not [name for name, body in bodies.items() if "{{" in body]
        framed = re.search(r'<iframe [^>]*src="([^"]+)"', bodies["frame-other"])
        assert framed is not None
        assert urlsplit(framed[1]).port != urlsplit(pages.url("plain")).port
        assert got(framed[1]) == bodies["plain"]


def test_the_servers_end_with_the_process_that_started_them_even_if_it_is_killed() -> None:
    code = "\n".join(
        (
            "import time",
            "from tests.support.interfaces import back_end_server",
            "with back_end_server() as server:",
            "    print(server.url, flush=True)",
            "    time.sleep(60)",
        )
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        back_end = BackEnd("scenario", starter.stdout.readline().strip())
        assert back_end.truth() == []
        starter.send_signal(signal.SIGKILL)
        starter.wait()
    answers = True
    while answers:  # a server that stays would hold this test up until its time is over
        try:
            back_end.truth()
            time.sleep(0.05)
        except OSError:
            answers = False
