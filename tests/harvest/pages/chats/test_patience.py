"""How long one waits for a page, each rule by itself: pages without a browser, by a clock that is stepped."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from harvest.pages.chats.chat import Chat, Manners
from harvest.pages.chats.completion import Completion, Patience
from harvest.pages.chats.experience import Experience
from harvest.pages.chats.opening import Opening
from harvest.pages.chats.second_witness import SecondWitness
from harvest.pages.chats.sending import SentTurn, send
from harvest.pages.chats.waiting import AwaitedAnswer, Waiting
from harvest.pages.finding.blocker import Blocker
from harvest.pages.finding.blockers import find_refusal
from harvest.pages.reading.page import Page
from harvest.pages.reading.turn import Habits, ReadTurn
from harvest.pages.sites.site import site_of
from harvest.systems.driver import Denied, DriverError, NotSent, Unanswered
from tests.support.scripted_page import SAID, Request, ScriptedPage, Showing

ANSWER = [(1.0, "It is"), (1.2, " a film"), (1.4, " of 1979.")]
TEXT = "It is a film of 1979."


async def no_picture() -> None:
    return None


def awaited(
    page: ScriptedPage,
    seconds: float = 240.0,
    patience: Patience | None = None,
    picture: Callable[[], Awaitable[bytes | None]] = no_picture,
    known: Experience | None = None,
    witness: SecondWitness | None = None,
) -> AwaitedAnswer:
    """What waiting for the answer comes to, once the page has taken the turn."""

    def trouble(now: Page, turn: ReadTurn) -> Blocker | None:
        return find_refusal(now, turn, site=site_of({}), faults=page.traffic.faults, begun=page.traffic.begun)

    async def answer() -> AwaitedAnswer:
        place = page.place
        await page.frame.mark_sent()
        page.mark()
        page.take()
        return await Waiting(
            page.window,
            place,
            SAID,
            habits=Habits(),
            completion=Completion(patience or Patience(), known or Experience()),
            selectors={},
            trouble=trouble,
            picture=picture,
            witness=witness,
        ).answer(seconds)

    return page.time.run(answer())


def about(seconds: float) -> object:
    """With the two looks that it may take to see it."""
    return pytest.approx(seconds + 0.1, abs=0.11)


# The answer is complete.


@pytest.mark.parametrize("sign", ["stop", "busy", "site"])
def test_an_answer_whose_sign_went_with_its_last_word_is_complete_half_a_second_later(sign: str) -> None:
    page = ScriptedPage(writes=ANSWER, signs=[(sign, 0.0, 1.4)])
    found = awaited(page)
    assert (found.turn.text, found.verdict and found.verdict.how) == (TEXT, "signs")
    assert page.time.seconds == about(1.4 + 0.5)


def test_an_answer_whose_request_ended_with_its_last_word_is_complete_half_a_second_later() -> None:
    page = ScriptedPage(writes=ANSWER, sends=[Request(0.0, end=1.4)])
    found = awaited(page)
    assert (found.turn.text, found.verdict and found.verdict.how) == (TEXT, "signs")
    assert page.time.seconds == about(1.4 + 0.5)


@pytest.mark.parametrize(("trails", "waited"), [(2, 32.0), (3, 8.0 + 0.5)])
def test_a_distant_page_that_stores_the_answer_is_awaited_until_this_is_known_to_add_nothing(
    trails: int, waited: float
) -> None:
    steps = [Request(1.4 + 8 * step, end=1.4 + 8 * (step + 1)) for step in range(4)]
    signs = [("stop", 0.0, 9.4), ("composer", 0.0, 25.4)]
    page = ScriptedPage(writes=ANSWER, signs=signs, sends=[Request(0.0, end=1.4), *steps])
    found = awaited(page, known=Experience(trails=trails))
    assert (found.turn.text, found.verdict and found.verdict.how) == (TEXT, "signs")
    assert page.time.seconds == about(1.4 + waited)


RING = '<div h-id="52" h-box="400,560,140,140" h-born="9"><svg h-id="53" h-box="400,560,140,140" h-show="block"/></div>'
TICK = '<div h-id="51" h-box="900,640,60,20" h-born="9">0.1s</div>'


@pytest.mark.parametrize("inside", [RING, TICK, TICK + RING, RING + TICK.replace("0.1s", "3 / 7.2 s (42%)")])
def test_a_progress_bar_before_the_users_words_is_not_mistaken_for_the_answer(inside: str) -> None:
    bar = f'<div h-id="50" class="tracker" h-box="0,560,1000,140">{inside}</div>'
    page = ScriptedPage(shown=[Showing(bar)], echoes=0.3, writes=[(0.6, TEXT)], signs=[("stop", 0.0, 0.6)])
    found = awaited(page)
    assert (found.turn.text, found.verdict and found.verdict.how) == (TEXT, "signs")
    assert page.time.seconds == about(0.6 + 0.5)


def test_an_answer_with_only_a_loose_sign_gets_a_second() -> None:
    page = ScriptedPage(writes=ANSWER, signs=[("animation", 0.0, 1.45)])
    assert awaited(page).turn.text == TEXT
    assert page.time.seconds == about(1.4 + 1.0)


@pytest.mark.parametrize(("end", "how", "quiet"), [(1.15, "signs", 0.7), (1.05, "quiet", 4.0)])
def test_output_within_four_tenths_of_a_second_after_a_sign_still_belongs_to_it(
    end: float, how: str, quiet: float
) -> None:
    page = ScriptedPage(writes=[(1.0, "It is a film"), (1.5, " of 1979.")], signs=[("stop", 0.0, end)])
    found = awaited(page)
    assert (found.turn.text, found.verdict and found.verdict.how) == (TEXT, how)
    assert page.time.seconds == about(1.5 + quiet)


@pytest.mark.parametrize("seconds", [0.004, 0.05, 0.2])
@pytest.mark.parametrize("more", [(), (1.72,), (1.83,), (1.87,), (1.895,)])
def test_text_that_arrives_while_the_page_is_read_is_in_the_answer(
    seconds: float, more: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ScriptedPage(writes=[*ANSWER, *((at, " No, of 1980.") for at in more)], signs=[("stop", 0.0, 1.4)])
    source = page.frame.source

    async def slow(site: Mapping[str, str] | None = None) -> str:
        await page.clock.sleep(seconds)
        found = await source(site)
        await page.clock.sleep(seconds)
        return found

    async def picture() -> bytes:
        return f"{page.since:.3f}".encode()

    monkeypatch.setattr(page.frame, "source", slow)
    found = awaited(page, picture=picture)
    assert found.turn.text == TEXT + len(more) * " No, of 1980."
    assert found.picture is None or float(found.picture) >= (more or (1.4,))[0]
    if not more:
        assert page.time.seconds <= 1.4 + max(0.5, 0.4 + 2 * seconds) + 0.03, "it is read while it is quiet"


def test_an_answer_without_signs_gets_four_seconds() -> None:
    page = ScriptedPage(writes=ANSWER)
    found = awaited(page)
    assert (found.turn.text, found.verdict and found.verdict.how) == (TEXT, "quiet")
    assert page.time.seconds == about(1.4 + 4.0)


def test_an_answer_that_pauses_for_long_gets_half_as_much_time_again() -> None:
    page = ScriptedPage(writes=[*ANSWER[:2], (5.0, " of 1979."), (10.0, " So long.")])  # pauses of 3.8 and 5 s
    assert awaited(page, patience=Patience(alone=6.0)).turn.text == f"{TEXT} So long."
    assert page.time.seconds == about(10 + 7.5)


def test_text_within_the_quiet_period_restarts_it() -> None:
    page = ScriptedPage(writes=[*ANSWER, (5.3, " And good.")])
    assert awaited(page).turn.text == f"{TEXT} And good."
    assert page.time.seconds > 5.3 + 4


@pytest.mark.parametrize("sign", ["animation", "progress", "composer"])
def test_a_lasting_sign_is_trusted_for_half_a_minute_and_reported(sign: str) -> None:
    page = ScriptedPage(writes=ANSWER, signs=[(sign, 0.0, 1e9)])
    found = awaited(page)
    assert (found.turn.text, found.verdict and found.verdict.how) == (TEXT, "stuck")
    assert page.time.seconds == about(1.4 + 30)


def test_a_lasting_stop_button_is_trusted_until_the_turn_times_out() -> None:
    page = ScriptedPage(writes=ANSWER, signs=[("stop", 0.0, 1e9)])
    found = awaited(page, 240)
    assert (found.turn.text, found.verdict, found.why) == (TEXT, None, "timeout")
    assert page.time.seconds == about(240)


def test_the_text_at_the_time_limit_is_kept() -> None:
    found = awaited(ScriptedPage(writes=[(float(at), f"word {at} ") for at in range(1, 400)]), 20)
    assert (found.verdict, found.why) == (None, "timeout")
    assert found.turn.text.endswith("word 20")


# Nothing comes.


def test_a_page_that_stays_silent_is_abandoned_after_half_a_minute() -> None:
    page = ScriptedPage()
    found = awaited(page)
    assert (found.turn.text, found.why) == ("", "no-reply")
    assert page.time.seconds == about(30)


def test_a_bubble_without_words_after_its_signs_ended_is_an_empty_answer() -> None:
    page = ScriptedPage(writes=[(0.3, "")], signs=[("stop", 0.2, 2.0)])
    found = awaited(page)
    assert (found.turn.text, found.why, found.trouble) == ("", "", None)
    assert found.verdict is not None
    assert found.verdict.how == "signs"
    assert page.time.seconds == about(32)


@pytest.mark.parametrize(
    "page",
    [
        ScriptedPage(writes=[(0.3, "")]),
        ScriptedPage(signs=[("stop", 0.2, 2.0)]),
        ScriptedPage(writes=[(0.3, "Thinking…")], signs=[("stop", 0.2, 2.0)]),
        ScriptedPage(writes=[(0.3, "")], signs=[("stop", 0.2, 2.0)], trouble=(1.0, 3.0, "Something went wrong.")),
    ],
    ids=["no sign of an answer", "no bubble", "more is to come", "an error was shown"],
)
def test_silence_that_may_be_a_fault_is_not_an_empty_answer(page: ScriptedPage) -> None:
    assert awaited(page).why == "no-reply"


def test_a_bubble_without_words_is_not_an_empty_answer_if_a_web_socket_has_closed() -> None:
    page = ScriptedPage(writes=[(0.3, "")], signs=[("stop", 0.2, 2.0)])
    mark = page.mark

    def marked() -> None:
        mark()
        page.traffic.note_socket_end("socket")

    page.mark = marked  # type: ignore[method-assign]
    assert awaited(page).why == "no-reply"


def test_a_page_that_shows_a_firm_sign_is_not_silent() -> None:
    page = ScriptedPage(writes=[(100.0, TEXT)], signs=[("stop", 0.0, 100.1)])
    assert awaited(page).turn.text == TEXT
    assert page.time.seconds == about(100.0 + 0.5)


def over_a_socket(page: ScriptedPage) -> ScriptedPage:
    page.traffic.note_frame("socket")
    return page


def test_the_first_word_over_an_open_socket_is_awaited_as_long_as_the_turn_may_take() -> None:
    page = over_a_socket(ScriptedPage(writes=[(100.0, TEXT)]))
    assert awaited(page).turn.text == TEXT
    assert page.time.seconds == about(100.0 + 4.0)
    silent = over_a_socket(ScriptedPage())
    found = awaited(silent, 120.0)
    assert (found.turn.text, found.why) == ("", "no-reply"), "nothing had begun that could be unfinished"
    assert silent.time.seconds == about(120)


QUEUED = "You are number 2 in the queue."


@pytest.mark.parametrize(
    ("listens", "seconds", "found"), [(True, 120.0, ("", "no-reply")), (False, 30.3, (QUEUED, ""))]
)
def test_a_place_in_a_queue_is_not_an_answer_as_long_as_somebody_may_come(
    listens: bool, seconds: float, found: tuple[str, str]
) -> None:
    page = ScriptedPage(writes=[(0.3, QUEUED)])
    told = awaited(over_a_socket(page) if listens else page, 120.0)
    assert (told.turn.text, told.why) == found
    assert page.time.seconds == about(seconds)


class OnlyTheFilm:
    """A witness that has received the film alone."""

    def ended_at(self) -> float | None:
        return None

    def may_have_brought(self, said: str, text: str, since: float) -> bool:
        return TEXT in text


@pytest.mark.parametrize("sign", [[], [("network", 0.0, 0.3)]])
def test_the_pages_own_words_are_not_an_answer_while_one_may_come_over_a_socket(
    sign: list[tuple[str, float, float]],
) -> None:
    witness, receipt = cast(SecondWitness, OnlyTheFilm()), Request(0.0, 0.2, responds=0.1, size=20)

    def page(*writes: tuple[float, str], opened: bool = True) -> ScriptedPage:
        made = ScriptedPage(writes=writes, signs=sign, sends=[receipt])
        return over_a_socket(made) if opened else made

    held = page((0.1, "Let me look. "), (12.0, TEXT))
    assert awaited(held, witness=witness).turn.text == f"Let me look. {TEXT}"
    assert held.time.seconds < 12 + 5, "the pause before it was none between words"
    at_once = page((0.1, TEXT))
    assert awaited(at_once, witness=witness).turn.text == TEXT
    assert at_once.time.seconds < 5
    closed = page((0.1, "Nobody is here."), opened=False)
    assert awaited(closed, witness=witness).turn.text == "Nobody is here."
    assert closed.time.seconds < 5
    known = Experience()
    completion_takes = []
    for _ in range(2):
        own = page((0.1, "Nobody is here."))
        told = awaited(own, known=known, witness=witness)
        assert told.turn.text == "Nobody is here."
        Completion(known=known).learn(told.sample)
        completion_takes.append(own.time.seconds)
    assert completion_takes[0] == about(30.1)
    assert completion_takes[1] < 5, "this site answers by itself"


@pytest.mark.parametrize(("content", "heard"), [(3.0, 3.0), (0.8, 0.05), (math.inf, 0.05)])
def test_content_long_after_its_response_began_counts_as_the_first(content: float, heard: float) -> None:
    page = ScriptedPage(writes=[(3.1, TEXT)], sends=[Request(0.0, 3.1, responds=0.05)])
    page.recorder = cast(None, SimpleNamespace(first_piece_at=lambda since: since + content))
    assert awaited(page).heard == pytest.approx(heard)


def test_a_page_that_reports_a_failed_turn_is_not_awaited_because_a_socket_is_open() -> None:
    page = over_a_socket(ScriptedPage(trouble=(1.0, 3.0, FAILED)))
    assert awaited(page).why == "no-reply"
    assert page.time.seconds == about(8)


FAILED = "Something went wrong. Please try again."


def test_a_page_that_briefly_reported_a_failed_turn_gets_eight_seconds_to_retry_by_itself() -> None:
    page = ScriptedPage(trouble=(1.0, 3.0, FAILED))
    found = awaited(page)
    assert (found.turn.text, found.why) == ("", "no-reply")
    assert found.trouble is not None
    assert page.time.seconds == about(8)
    assert awaited(ScriptedPage(trouble=(1.0, 3.0, FAILED), writes=[(6.0, TEXT)])).turn.text == TEXT


@pytest.mark.parametrize("signs", [[], [("stop", 0.0, 1e9)]], ids=["silent", "busy for ever"])
def test_a_page_that_reports_a_failed_turn_is_believed_after_four_seconds_of_quiet(
    signs: list[tuple[str, float, float]],
) -> None:
    page = ScriptedPage(trouble=(1.0, 1e9, FAILED), signs=signs)
    found = awaited(page)
    assert (found.why, found.verdict, found.trouble and found.trouble.kind) == ("fault", None, "error")
    assert page.time.seconds == about(4)


# Another document comes.


def test_an_answer_in_another_document_is_awaited_there() -> None:
    page = ScriptedPage(documents=[0.5], writes=[(2.0, TEXT)])
    found = awaited(page)
    assert found.turn.text == TEXT
    assert page.frame.watched
    assert page.time.seconds == about(2.0 + 4.0)


def test_a_page_that_is_reloaded_and_then_stays_silent_is_distinguished() -> None:
    page = ScriptedPage(documents=[0.5])
    assert awaited(page).why == "page-reloaded"
    assert page.time.seconds == about(0.5 + 30)


def test_a_page_that_reloads_for_ever_is_abandoned() -> None:
    page = ScriptedPage(documents=[0.5] * 9)
    with pytest.raises(Unanswered, match="page-reloaded: the page kept reloading"):
        awaited(page)
    assert page.time.seconds < 1


# The turn was sent.


def sent(page: ScriptedPage, *, lag: float = 0.0) -> SentTurn:
    async def sending() -> SentTurn:
        page.traffic.lag = lag
        return await send(page.window, page.place, SAID, await page.typed())

    return page.time.run(sending())


def test_a_page_that_accepts_the_turn_at_once_costs_no_time() -> None:
    page = ScriptedPage()
    assert (sent(page).by, page.pressed) == ("button", [(0, "button")])
    assert page.time.seconds <= 0.1


@pytest.mark.parametrize("lag", [0.0, 5.0])
def test_a_page_gets_three_seconds_and_its_servers_lag_to_show_that_it_accepted_the_turn(lag: float) -> None:
    page = ScriptedPage(held=2.9 + lag)
    assert (sent(page, lag=lag).by, page.pressed) == ("button", [(0, "button")])
    late = ScriptedPage(held=3.2 + lag)
    sent(late, lag=lag)
    assert len(late.pressed) == 2, "nothing stirred, so the next way was tried"
    assert late.pressed[1][0] == about(3 + lag)


@pytest.mark.parametrize("lag", [0.0, 2.0])
def test_a_page_that_accepts_nothing_gets_as_long_for_each_press(lag: float) -> None:
    page = ScriptedPage(taken_by="nothing")
    with pytest.raises(NotSent, match="not-sent"):
        sent(page, lag=lag)
    assert [way for _, way in page.pressed] == ["button", "Enter", "Enter", "Control+Enter", "Control+Enter"]
    assert page.time.seconds == pytest.approx(5 * (3 + lag), abs=0.3)
    assert page.value == ""


def test_messages_of_the_page_count_once_the_page_has_had_its_time() -> None:
    class Leaving(ScriptedPage):
        def press(self, way: str) -> None:
            super().press(way)
            self.send("leaves", Request(0.1))

    page = Leaving(taken_by="nothing")
    assert (sent(page).by, page.pressed) == ("button", [(0, "button")])
    assert page.time.seconds == about(3)


@pytest.mark.parametrize(
    ("lag", "off", "by", "when"), [(5.0, 29.0, "button", 29), (5.0, 31.0, "Enter", 30), (0.0, 1.0, "Enter", 0)]
)
def test_a_disabled_button_is_awaited_for_six_times_the_servers_lag(
    lag: float, off: float, by: str, when: float
) -> None:
    page = ScriptedPage(off=off, taken_by=by)
    assert sent(page, lag=lag).by == by
    assert page.pressed == [(about(when), by)]


def test_another_document_shows_that_the_turn_was_accepted() -> None:
    page = ScriptedPage(taken_by="nothing", faults={"sample": Unanswered("page-moved", "a new document came")})
    assert sent(page).by == "button"
    assert page.time.seconds == 0


# The page has opened.

LOGIN = '<div h-id="20" h-box="300,100,500,400"><h1>Log in to continue</h1><input type="password" h-id="21" h-edit="1" h-box="320,200,300,40"/><button h-id="22" h-box="320,300,100,40">Log in</button></div>'  # noqa: E501
LAUNCHER = '<button h-id="30" h-box="1200,720,60,60" class="chat-launcher" aria-label="Open chat">o</button>'
BANNER = (
    '<div h-id="40" role="dialog" aria-modal="true" h-box="300,150,600,400"><p>We and our partners use cookies to '
    'measure what you read.</p><button h-id="41" h-box="320,400,120,40">Reject all</button>'
    '<button h-id="42" h-box="460,400,120,40">Accept all</button></div>'
)


def opened(page: ScriptedPage, seconds: float = 60.0, **site: object) -> Opening:
    opening = Opening(page.window, site_of(site))
    page.time.run(opening.place(200, seconds))
    return opening


def test_a_page_that_is_stable_for_four_tenths_of_a_second_is_open() -> None:
    page = ScriptedPage()
    opened(page)
    assert page.time.seconds == about(0.4)


def test_a_page_that_is_never_stable_is_open_after_five_seconds() -> None:
    page = ScriptedPage(moves=0.2)
    opened(page)
    assert page.time.seconds == about(5)


@pytest.mark.parametrize(("end", "until"), [(2.0, 2.0), (60.0, 5.0)])
def test_a_page_that_waits_for_its_server_is_open_after_its_answer_or_five_seconds(end: float, until: float) -> None:
    page = ScriptedPage()

    async def opening() -> None:
        page.traffic.mark()
        page.send("first", Request(0.0, end=end))
        await Opening(page.window, site_of({})).place(200, 60)

    page.time.run(opening())
    assert page.time.seconds == about(until)


@pytest.mark.parametrize(
    ("loading", "until"),
    [
        (Request(0.0, responds=1.5, method="GET", media_type="text/event-stream; charset=utf-8"), 1.5),
        (Request(0.0, responds=1.5, media_type="application/x-ndjson"), 1.5),
        (Request(0.0, responds=1.5, method="GET", kind="eventsource"), 1.5),
        (Request(0.0, method="GET", kind="eventsource"), 5.0),  # nothing says that it is open
        (Request(0.0, responds=1.5, method="GET", media_type="application/json"), 5.0),  # the rest is on its way
        (Request(0.0, responds=1.5, end=2.5, method="GET", media_type="application/json"), 2.5),
    ],
)
def test_a_page_with_a_stream_of_events_is_open_once_the_stream_is(loading: Request, until: float) -> None:
    page = ScriptedPage()

    async def opening() -> None:
        page.traffic.mark()
        page.send("notices", loading)
        await Opening(page.window, site_of({})).place(200, 60)

    page.time.run(opening())
    assert page.time.seconds == about(until)


@pytest.mark.parametrize("lag", [0.0, 8.0])
def test_a_web_socket_gets_half_a_second_and_one_and_a_half_times_its_servers_lag(lag: float) -> None:
    page = ScriptedPage()
    page.traffic.lag = lag
    page.traffic.note_socket("socket")
    opened(page)
    assert page.time.seconds == about(max(0.4, 0.5 + 1.5 * lag))


@pytest.mark.parametrize(
    ("frames", "lag", "until"),
    [
        ([(9.0, "said"), (17.0, "came"), (17.1, "said"), (25.0, "came")], 8.0, 25.25),
        ([(9.0, "said"), (17.0, "came")], 8.0, 17.25),
        ([(9.0, "said")], 8.0, 19.0),  # nothing answers to it
        ([(float(at), "said") for at in range(9, 90)], 8.0, 48.0),  # it says something all the time
        ([(0.1, "said"), (0.15, "came"), *((at / 10, "said") for at in range(2, 99))], 0.05, 0.4),
    ],
)
def test_the_first_message_over_a_web_socket_is_awaited_until_it_is_answered(
    frames: list[tuple[float, str]], lag: float, until: float
) -> None:
    page = ScriptedPage()
    page.traffic.lag = lag

    async def wire() -> None:
        for at, what in frames:
            await page.clock.sleep(at - page.time.seconds)
            page.traffic.note_frame("socket")
            if what == "came":
                page.traffic.note_received_frame(9)

    async def opening() -> None:
        page.traffic.note_socket("socket")
        talking = asyncio.create_task(wire())
        await Opening(page.window, site_of({})).place(200, 60)
        talking.cancel()

    page.time.run(opening())
    assert page.time.seconds == about(until)


def test_the_text_box_is_awaited_to_the_end_of_the_time() -> None:
    page = ScriptedPage(composer=(58.0, 1e9))
    opened(page)
    assert 58 <= page.time.seconds < 59
    never = ScriptedPage(composer=(1e9, 1e9))
    with pytest.raises(NotSent, match="no-composer: no box to type in was found within 60 s"):
        opened(never)
    assert never.time.seconds == about(60)


def test_a_box_that_stays_covered_is_distinguished_at_the_end_of_the_time() -> None:
    page = ScriptedPage(shown=[Showing('<div h-id="50" h-box="0,0,1280,800"/>', number=50)])
    with pytest.raises(NotSent, match="composer-covered"):
        opened(page, 20)
    assert page.time.seconds == about(20)


def test_a_wall_is_believed_after_three_seconds_without_a_box() -> None:
    page = ScriptedPage(composer=(1e9, 1e9), shown=[Showing(LOGIN)])
    with pytest.raises(Denied, match="login"):
        opened(page)
    assert page.time.seconds == about(3.0)
    passing = ScriptedPage(composer=(2.5, 1e9), shown=[Showing(LOGIN, end=2.5)])
    opened(passing)


def test_a_launcher_is_pressed_after_three_seconds_without_a_box_and_once() -> None:
    page = ScriptedPage(composer=(1e9, 1e9), shown=[Showing(LAUNCHER)])
    with pytest.raises(NotSent, match="no-composer"):
        opened(page)
    ((when, what),) = page.pressed
    assert (when, what) == (about(3.0), "30")
    soon = ScriptedPage(composer=(2.5, 1e9), shown=[Showing(LAUNCHER)])
    opened(soon)
    assert soon.pressed == []


@pytest.mark.parametrize(("begin", "pressed"), [(6.0, 1), (7.5, 2)])
def test_a_chat_opened_by_a_launcher_gets_three_seconds_before_the_next_one_is_pressed(
    begin: float, pressed: int
) -> None:
    other = LAUNCHER.replace("30", "31", 1).replace("Open chat", "Chat with us")
    page = ScriptedPage(composer=(begin, 1e9), shown=[Showing(LAUNCHER, number=30), Showing(other, begin=3.5)])
    opened(page)
    assert len(page.pressed) == pressed


class Launched(ScriptedPage):
    """Its box is there `after` seconds after its launcher was pressed `times` times; by `shows` one more thing stands
    on it from a press on."""

    def __init__(self, after: float, times: int = 1, shows: str = "") -> None:
        super().__init__(composer=(1e9, 1e9), shown=[Showing(LAUNCHER)])
        self.after, self.times, self.shows = after, times, shows

    def press(self, way: str) -> None:
        super().press(way)
        if len(self.pressed) == self.times:
            self.composer = (self.time.seconds + self.after, 1e9)
        self.shown = [*self.shown, *([Showing(self.shows)] if self.shows else [])]


LEARNT = {'button[aria-label="Open chat"]'}


def launched(page: ScriptedPage, launchers: set[str]) -> list[float]:
    page.time.run(Opening(page.window, site_of({}), launchers=launchers).place(200, 60))
    return [when for when, _ in page.pressed]


def test_a_launcher_that_opened_a_sites_chat_before_is_pressed_at_once() -> None:
    known: set[str] = set()
    assert launched(Launched(0.2), known) == [about(3.0)]
    assert launched(Launched(0.2), known) == [about(0.4)]
    assert known == LEARNT


def test_a_launcher_pressed_before_its_page_listened_is_pressed_again_and_later_not_so_soon() -> None:
    known = set(LEARNT)
    assert launched(Launched(0.2, times=2), known) == [about(0.4), about(3.3)]
    assert known == set()
    assert launched(Launched(0.2), known) == [about(3.0)]


def test_a_launcher_that_changed_the_page_is_pressed_once_however_late_its_box_comes() -> None:
    known = set(LEARNT)
    assert launched(Launched(20, shows="<div h-id='50' h-box='900,300,300,400'>Connecting</div>"), known) == [
        about(0.4)
    ]
    assert known == LEARNT


def test_a_launcher_that_brought_no_box_is_forgotten() -> None:
    known = set(LEARNT)
    with pytest.raises(NotSent, match="no-composer"):
        launched(Launched(1e8), known)
    assert known == set()


@pytest.mark.parametrize(("loads", "waited"), [(10.0, 10.0), (19.0, 19.0), (1e9, 20.0)])
def test_loading_after_a_launcher_is_awaited_for_twenty_seconds_at_most_and_three_more(
    loads: float, waited: float
) -> None:
    class Loading(ScriptedPage):
        def press(self, way: str) -> None:
            super().press(way)
            self.send(way, Request(0.0, end=loads, method="GET", kind="document"))

    other = LAUNCHER.replace("30", "31", 1).replace("Open chat", "Chat with us")
    page = Loading(composer=(1e9, 1e9), shown=[Showing(LAUNCHER, number=30), Showing(other, begin=3.5)])
    with pytest.raises(NotSent, match="no-composer"):
        opened(page, 40)
    (first, _), (second, _) = page.pressed
    assert second - first == pytest.approx(waited + 3, abs=0.3)


@pytest.mark.parametrize(("fades", "presses"), [(1.3, ["41"]), (3.0, ["41", "42"])])
def test_a_pressed_banner_gets_a_second_and_a_half_before_its_next_button_is_pressed(
    fades: float, presses: list[str]
) -> None:
    page = ScriptedPage(shown=[Showing(BANNER, number=41, fades=fades)])
    opened(page, 10)
    assert [what for _, what in page.pressed] == presses
    assert [when for when, _ in page.pressed[1:]] == [about(1.5)][: len(presses) - 1]


def test_the_sites_own_sign_that_typing_is_possible_is_awaited() -> None:
    page = ScriptedPage(ready=7.0)
    opened(page, ready=".up")
    assert page.time.seconds == about(7.0 + 0.4)


def test_a_button_that_the_site_wants_pressed_first_is_awaited_to_the_end_of_the_time() -> None:
    page = ScriptedPage()
    with pytest.raises(NotSent, match="not-openable"):
        opened(page, 20, open=["#start"])
    assert page.time.seconds == about(20)


# The next turn, and the end.


def test_a_box_that_is_not_back_ten_seconds_after_an_answer_has_gone() -> None:
    page = ScriptedPage(writes=ANSWER, signs=[("stop", 0.0, 1.4)])
    chat = Chat(page.window, site_of({}), Manners(), Experience())

    async def talk() -> None:
        await chat.open(page.url)
        await chat.say(SAID)
        page.composer = (1e9, 1e9)
        left.append(page.time.seconds)
        await chat.say("And then?")

    left: list[float] = []
    with pytest.raises(NotSent, match="composer-gone"):
        page.time.run(talk())
    assert page.time.seconds - left[0] == about(10)


@pytest.mark.parametrize(("rests", "seconds"), [(45.0, 45.0), (1e9, 60.0)])
def test_a_box_that_accepts_no_text_for_a_while_is_awaited_as_long_as_an_answer(rests: float, seconds: float) -> None:
    page = ScriptedPage(writes=ANSWER, signs=[("stop", 0.0, 1.4)])
    chat = Chat(page.window, site_of({}), replace(Manners(), answer_seconds=60.0), Experience())

    async def talk() -> None:
        await chat.open(page.url)
        await chat.say(SAID)
        left.append(page.time.seconds)
        page.off = page.time.seconds + rests
        page.rests = True
        page.faults["arm"] = Unanswered("page-broken", "it is typed into again")
        await chat.say("And then?")

    left: list[float] = []
    with pytest.raises(Unanswered if rests < 60 else NotSent, match="page-broken" if rests < 60 else "composer-gone"):
        page.time.run(talk())
    assert page.time.seconds - left[0] == about(seconds)


def test_a_proven_button_that_is_disabled_is_awaited_as_long_as_an_answer() -> None:
    page = ScriptedPage(off=45.0)

    async def sending() -> SentTurn:
        place = page.place
        place.proven = True
        return await send(page.window, place, SAID, await page.typed(), 60.0)

    assert page.time.run(sending()).by == "button"
    assert page.pressed == [(about(45), "button")]


def test_a_window_over_the_box_that_cannot_be_closed_is_named_after_ten_seconds() -> None:
    page = ScriptedPage(writes=ANSWER, signs=[("stop", 0.0, 1.4)])
    chat = Chat(page.window, site_of({}), Manners(), Experience())

    async def talk() -> None:
        await chat.open(page.url)
        await chat.say(SAID)
        page.shown = [Showing(BANNER, number=41, goes_when_pressed=False)]
        left.append(page.time.seconds)
        await chat.say("And then?")

    left: list[float] = []
    with pytest.raises(NotSent, match=r"composer-covered: a consent window covers .*partners use cookies"):
        page.time.run(talk())
    assert page.time.seconds - left[0] == about(10)
    assert chat.opening.did == ["consent: pressed 'Reject all'", "consent: pressed 'Accept all'"]


def test_an_unknown_element_over_the_box_is_awaited_for_one_second_and_then_typed_under() -> None:
    page = ScriptedPage(writes=ANSWER, signs=[("stop", 0.0, 1.4)])
    chat = Chat(page.window, site_of({}), Manners(), Experience())

    async def talk() -> float:
        await chat.open(page.url)
        page.shown = [Showing('<div h-id="50" h-box="0,600,1280,200"/>', number=50)]
        begun = page.time.seconds
        await chat.say(SAID)
        return page.pressed[0][0] - begun

    assert page.time.run(talk()) == about(1.0)


WINDOW = '<div h-id="50" h-box="0,0,1280,800">{}</div>'
JOIN = (
    '<h2 h-id="51" h-box="400,300,400,40">That was your free question</h2>'
    '<button h-id="52" h-box="400,350,200,40">Continue with Google</button>'
)


@pytest.mark.parametrize(
    ("html", "kind", "message", "seconds"),
    [
        ("<p>Buy now</p>", NotSent, "composer-covered: something covers the box to type in: 'Buy now'", 10.0),
        (JOIN, Denied, "login: That was your free question", 1.0),
        ("<p>Please prove you are human</p>", Denied, "captcha: Please prove you are human", 1.0),
    ],
)
def test_nothing_is_typed_under_an_element_that_fills_the_window(
    html: str, kind: type[DriverError], message: str, seconds: float
) -> None:
    page = ScriptedPage(writes=ANSWER, signs=[("stop", 0.0, 1.4)])
    chat = Chat(page.window, site_of({}), Manners(), Experience())
    left: list[float] = []

    async def talk() -> None:
        await chat.open(page.url)
        await chat.say(SAID)
        page.shown = [Showing(WINDOW.format(html), number=50, share=1.0)]
        left.append(page.time.seconds)
        page.value = "nothing"
        await chat.say("And then?")

    with pytest.raises(kind, match=message):
        page.time.run(talk())
    assert page.value == "nothing"
    assert page.time.seconds - left[0] == about(seconds)


def test_the_sites_own_obstacles_are_checked_before_a_turn_is_typed() -> None:
    page = ScriptedPage(shown=[Showing("<p>The desk is closed on Mondays</p>", begin=1.0)])
    chat = Chat(
        page.window,
        site_of({"blocked": [{"kind": "maintenance", "text": "closed on Mondays"}]}),
        Manners(),
        Experience(),
    )

    async def talk() -> None:
        await chat.open(page.url)
        await page.clock.sleep(2)
        await chat.say(SAID)

    with pytest.raises(NotSent, match="maintenance: The desk is closed on Mondays"):
        page.time.run(talk())
    assert page.pressed == []


def settled(page: ScriptedPage, known: Experience, more: float, how: str = "quiet", words: str = " And good.") -> float:
    """Seconds that it takes to settle a conversation whose answer, taken by `how`, goes on `more` seconds later, with
    these words."""
    chat = Chat(page.window, site_of({}), Manners(), known)

    async def talk() -> None:
        await chat.open(page.url)
        assert (await chat.say(SAID)).finish == how
        page.writes = [*page.writes, (page.since + more, words)]
        said.append(page.time.seconds)
        await chat.settle()

    said: list[float] = []
    try:
        page.time.run(talk())
    finally:
        taken = page.time.seconds - said[0]
    return taken


def test_an_answer_ended_only_by_quiet_gets_the_same_time_once_more_at_the_end() -> None:
    assert settled(ScriptedPage(writes=ANSWER), Experience(), 5.0) == about(4.0)


def test_an_answer_that_continues_within_that_time_was_cut_and_later_answers_get_half_as_much_again() -> None:
    page, known = ScriptedPage(writes=ANSWER), Experience()
    with pytest.raises(Unanswered, match="went-on"):
        settled(page, known, 3.0)
    assert known.alone == pytest.approx(1.5 * (4.0 + 3.0), abs=0.4)


def told() -> ScriptedPage:
    return ScriptedPage(writes=ANSWER, signs=[("stop", 0.0, 1.4)])


def test_an_answer_whose_end_a_sign_showed_is_read_once_more_too_at_no_cost() -> None:
    assert settled(told(), Experience(), 5.0, "signs") == about(0)
    known = Experience()
    with pytest.raises(Unanswered, match=r"went-on: the answer to 'Which film is it\?' continued after 0\.[56] s"):
        settled(told(), known, 0.0, "signs")
    assert known.alone == 0.0
    assert known.after == pytest.approx(1.5 * 0.55, abs=0.15)


def test_the_end_of_a_first_conversation_with_a_site_gets_six_seconds() -> None:
    known = Experience(unsettled=2)
    with pytest.raises(Unanswered, match="went-on"):
        settled(told(), known, 5.0, "signs")
    assert known.after == pytest.approx(1.5 * 5.5, abs=0.2)
    assert round(settled(told(), known, 90.0, "signs")) == 0, "such an answer gets 8 s now"
    fresh = Experience(unsettled=2)
    assert [settled(told(), fresh, 90.0, "signs") for _ in range(3)] == [about(5.4), about(5.4), about(0)]


def grown(known: Experience, words: str, writes: Sequence[tuple[float, str]] = ANSWER) -> object:
    """What comes of an answer to which the page puts these words later: the fault's reason, or what is noted."""
    page = ScriptedPage(writes=writes, signs=[("stop", 0.0, 1.4)])
    try:
        settled(page, known, 0.0, "signs", words)
    except Unanswered as fault:
        return fault.reason
    return page.events


def test_a_page_whose_answers_always_grow_is_accepted_in_the_end() -> None:
    known = Experience()
    outcomes = [grown(known, f" And {word}.") for word in ("good", "long", "new", "old", "red")]
    assert outcomes[:3] == ["went-on"] * 3
    assert outcomes[3:] == [
        [f"the answer to {SAID!r} has since become {f'{TEXT} And {word}.'!r}"] for word in ("old", "red")
    ]


def test_a_mark_that_the_page_adds_to_every_answer_is_its_habit_from_the_second_time_on() -> None:
    known = Experience()
    outcomes = [grown(known, " (seen by Anna)") for _ in range(3)]
    event = f"the answer to {SAID!r} has since become {f'{TEXT} (seen by Anna)'!r}"
    assert outcomes == ["went-on", [event], [event]]
    assert known.after == 0.0, "what it had taught is forgotten: no wait helps"
    assert grown(known, " It is in colour.") == "went-on"


def test_the_rest_of_one_answer_is_not_a_mark_however_often_it_comes() -> None:
    known, rest = Experience(), " It was made by the sea, in the last days of a long and quiet summer."
    assert [grown(known, rest) for _ in range(2)] == ["went-on", "went-on"]


def test_the_same_text_after_two_answers_belongs_to_neither() -> None:
    known, notice = Experience(), " Answers of this desk may be wrong, so please ask the house itself."
    assert grown(known, notice) == "went-on"
    assert grown(known, notice, [(1.0, "It runs for two hours.")]) != "went-on"


def test_the_stamp_of_a_turn_and_its_times_are_those_of_the_clock() -> None:
    page = ScriptedPage(writes=ANSWER, signs=[("stop", 0.0, 1.4)])
    chat = Chat(page.window, site_of({}), replace(Manners(), evidence=frozenset({"watch"})), Experience())

    async def talk() -> object:
        await chat.open(page.url)
        said = await chat.say(SAID)
        return said.asked_at[:17], said.first, said.last

    assert page.time.run(talk()) == ("2031-05-04T03:02:", pytest.approx(1.0), pytest.approx(1.4))
