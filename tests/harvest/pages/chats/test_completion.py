"""When an answer is finished: laws over simulated pages, each of which writes a reply and shows what signs it likes.

What is learnt of the signs of a site is shown on a real page too.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.pages.browser.busy_signs import FIRM, LOOSE, TRUSTED
from harvest.pages.browser.frame import Frame
from harvest.pages.browser.part import Part
from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.chats.chat import Chat, ChatAnswer, Manners
from harvest.pages.chats.completion import Completion, Patience, Sample, Verdict
from harvest.pages.chats.experience import Experience
from harvest.pages.sites.site import site_of
from harvest.systems.driver import Unanswered
from tests.support.browsing import pages

STEP = 0.1


@dataclass
class Simulated:
    """A page. writes: when its text changes; signs: (name, from, to) of each sign it shows."""

    writes: list[float]
    signs: list[tuple[str, float, float]] = field(default_factory=list)
    stalls: list[tuple[float, float]] = field(default_factory=list)
    repaints: list[float] = field(default_factory=list)

    def sample(self, at: float) -> Sample:
        past = [moment for moment in self.writes if moment <= at]
        quiet = at - (past[-1] if past else 0.0)
        edges = [0.0, *past]
        pauses = tuple((after - before, before) for before, after in itertools.pairwise(edges))
        now = frozenset(name for name, begin, end in self.signs if begin <= at < end)
        ended = {name: end for name, begin, end in self.signs if end <= at and name not in now - {"network"}}
        came = {name: begin for name, begin, _ in self.signs if begin <= at}
        stalls = tuple((length, since) for length, since in self.stalls if since <= at)
        rewritten = min((at - moment for moment in self.repaints if moment <= at), default=None)
        return Sample(at, quiet, past[0] if past else None, pauses, now, ended, rewritten, came, stalls)

    def judged(
        self, completion: Completion | None = None, most: float = 200.0, step: float = STEP
    ) -> tuple[float, Verdict] | None:
        """(when, verdict) of the first sample that is taken for the end."""
        completion = completion or Completion()
        for number in range(1, int(most / step)):
            verdict = completion.judge(self.sample(number * step))
            if verdict is not None:
                return number * step, verdict
        return None

    def extra(self) -> float:
        """Seconds waited after the last change; below 0 the reply was cut."""
        found = self.judged()
        assert found is not None
        return found[0] - self.writes[-1]


def play(known: Experience, *answers: Simulated, step: float = STEP) -> list[float]:
    """Seconds waited after the last change of each, one after the other; below 0 it was cut. Each is learnt from."""
    waited = []
    for page in answers:
        completion = Completion(known=known)
        found = page.judged(completion, step=step)
        assert found is not None
        sample = page.sample(found[0])
        lasted, began = completion.lasting_signs(sample), sample.began or 0.0
        unclear = completion.unclear_signs(sample) - lasted.keys()
        known.learn_answer(sample.ended.keys(), sample.came, lasted, began, sample.last_change, unclear=unclear)
        known.trails += completion.has_trail(sample)
        waited.append(found[0] - page.writes[-1])
    return waited


def writing(pause: float, pieces: int = 6) -> list[float]:
    """Text that comes every 0.05 s, twice broken by a pause of that length."""
    moments, at = [], 0.4
    for piece in range(pieces):
        at += pause if piece in (2, 4) else 0.05
        moments.append(round(at, 3))
    return moments


@pytest.mark.parametrize("pause", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("sign", sorted(FIRM))
def test_a_firm_sign_bridges_every_pause_and_costs_half_a_second(sign: str, pause: float) -> None:
    writes = writing(pause)
    assert 0.5 <= Simulated(writes, [(sign, 0.0, writes[-1] + 0.02)]).extra() <= 0.7


@pytest.mark.parametrize("pause", [0.2, 1.0, 3.0])
def test_without_signs_no_pause_of_three_seconds_truncates_an_answer(pause: float) -> None:
    assert 4.0 <= Simulated(writing(pause)).extra() <= 4.7


def test_a_page_that_continues_after_its_stop_button_has_gone_is_not_truncated() -> None:
    writes = [0.5 + 0.1 * i for i in range(30)]
    assert 0.5 <= Simulated(writes, [("stop", 0.0, 1.5)]).extra() <= 0.7


def test_a_request_that_only_delivered_the_turn_is_no_evidence_about_the_text() -> None:
    page = Simulated([1.5, 1.6, 4.6], [("network", 0.0, 0.1)])
    found = page.judged()
    assert found is not None
    assert found[0] > 4.6
    assert found[1].how == "quiet"


def test_typing_dots_that_go_when_the_text_begins_are_no_evidence_of_its_end() -> None:
    page = Simulated([1.0, 1.1, 4.1, 4.2], [("animation", 0.0, 1.0), ("hint", 0.0, 1.0)])
    assert page.extra() > 0


@pytest.mark.parametrize("dots", ["animation", "hint", "progress"])
def test_dots_known_to_stay_to_the_end_of_the_text_confirm_a_single_word(dots: str) -> None:
    known, word = Experience(), Simulated([1.0], [(dots, 0.1, 1.0)])
    assert play(known, word) == pytest.approx([4.0], abs=0.2), "nothing is known"
    longer = Simulated(writing(0.3), [(dots, 0.1, 1.1)])
    assert play(known, longer, longer) == pytest.approx([1.0, 1.0], abs=0.2)
    assert play(known, word) == pytest.approx([1.0], abs=0.2)
    assert play(known, longer) == pytest.approx([0.5], abs=0.2)
    assert play(known, Simulated([1.0, 1.1, 1.7, 2.2], [(dots, 0.1, 1.0)])) == pytest.approx([4.0], abs=0.2)
    assert play(known, word) == pytest.approx([4.0], abs=0.2), "once they were gone before the text was whole"


@pytest.mark.parametrize("sign", ["stop", "network", "hint"])
def test_a_sign_that_lasted_to_the_end_of_all_six_answers_needs_little_quiet(
    sign: str,
) -> None:
    known, longer, word = (
        Experience(),
        Simulated(writing(0.3), [(sign, 0.1, 1.1)]),
        Simulated([1.0], [(sign, 0.1, 1.0)]),
    )
    assert min(play(known, *[longer] * 6)) >= 0.5
    assert play(known, longer, word, step=0.01) == pytest.approx([0.4, 0.4], abs=0.02)
    # A page that could not run in the meantime may not have painted what it has received.
    late = Simulated([1.0], [(sign, 0.1, 1.0)], stalls=[(0.06, 1.1), (0.2, 1.2)])
    assert play(known, late, step=0.01) == pytest.approx([0.5], abs=0.02)
    # One that puts the same text there anew is not waited for as if no sign were known.
    again = Simulated([1.0], [(sign, 0.1, 1.0)], repaints=[1.2, 1.39, 1.48])
    assert play(known, again, step=0.01) == pytest.approx([0.5], abs=0.02)
    apart = Simulated([*writing(0.3), 1.65], [(sign, 0.1, 1.1)])  # another bubble
    assert play(known, apart)[0] < 0, "that could not be known"
    known.learn_continuation(0.5, 20.0, signed=True)
    assert play(known, apart)[0] > 0


@pytest.mark.parametrize("sign", ["stop", "network", "hint"])
@pytest.mark.parametrize("gap", [0.42, 0.48, 0.7])
@pytest.mark.parametrize("when", range(6))
def test_a_sign_behind_which_an_answer_once_paused_never_allows_little_quiet(sign: str, gap: float, when: int) -> None:
    known, longer = Experience(), Simulated(writing(0.3), [(sign, 0.1, 1.1)])
    apart = Simulated([*writing(0.3), 1.2 + gap], [(sign, 0.1, 1.1)])
    first = [longer] * 6
    first[when] = apart
    play(known, *first)
    if gap < 0.5:
        assert min(play(known, *[longer] * 9, apart)) > 0


def test_a_single_word_needs_little_quiet_later_if_the_page_showed_no_activity() -> None:
    both, alone = (
        Simulated([1.0, 1.1], [("hint", 0.1, 1.0), ("wire", 1.15, 1.15)]),
        Simulated([1.0], [("wire", 1, 1)]),
    )
    known = Experience()
    assert play(known, *[both] * 6) == pytest.approx([1.0] * 6, abs=0.2)
    assert play(known, both, step=0.01) == pytest.approx([0.4], abs=0.02)
    assert play(known, *[alone] * 3) == pytest.approx([1.0] * 3, abs=0.2)
    assert play(known, alone, step=0.01) == pytest.approx([0.4], abs=0.02)
    two = Simulated([1.0, 1.1, 1.8], [("hint", 0.1, 1.0), ("wire", 1.15, 1.15)])
    assert play(Experience(), *[both] * 2, two)[-1] > 0, "each of two bubbles brings a word"


@pytest.mark.parametrize("sign", sorted((FIRM | LOOSE) - TRUSTED))
def test_any_other_lasting_sign_is_trusted_for_half_a_minute(sign: str) -> None:
    found = Simulated([0.5, 0.6], [(sign, 0.0, 1e9)]).judged()
    assert found is not None
    assert found[1].how == "stuck"
    assert found[0] == pytest.approx(30.6, abs=0.2)


def test_chained_requests_are_awaited_to_their_end_even_if_each_takes_long() -> None:
    """A gradio page 4 s away: six requests in a row, three of them behind the answer."""
    found = Simulated([33.4, 33.7], [("network", 8.5 * n, 8.5 * (n + 1)) for n in range(8)]).judged()
    assert found is not None
    assert found[1].how == "signs"
    assert found[0] == pytest.approx(68.0, abs=0.2)


def test_endless_chained_requests_are_ignored_after_three_times_as_long() -> None:
    found = Simulated([0.5, 0.6], [("network", 8.5 * n, 8.5 * (n + 1)) for n in range(40)]).judged()
    assert found is not None
    assert found[1].how == "stuck"
    assert found[0] == pytest.approx(90.6, abs=0.2)


@pytest.mark.parametrize("sign", sorted(TRUSTED))
def test_a_lasting_trusted_sign_is_awaited(sign: str) -> None:
    assert Simulated([0.5, 0.6], [(sign, 0.0, 1e9)]).judged() is None


def test_a_mistrusted_sign_is_ignored() -> None:
    found = Simulated([0.5, 0.6], [("animation", 0.0, 1e9)]).judged(
        Completion(known=Experience(mistrusted={"animation"}))
    )
    assert found is not None
    assert found[1].how == "quiet"


def test_without_words_there_is_no_answer_and_after_half_a_minute_without_activity_none_will_come() -> None:
    page = Simulated([], [("network", 0.0, 2.0)])
    assert page.judged(most=100) is None
    completion = Completion()
    assert not completion.is_silent(page.sample(31.0))
    assert completion.is_silent(page.sample(32.1))
    assert not completion.is_silent(Simulated([], [("stop", 0.0, 1e9)]).sample(500.0))


def test_a_turn_that_seems_to_have_failed_is_abandoned_sooner_unless_something_is_pending() -> None:
    completion = Completion()
    assert not completion.is_silent(Simulated([]).sample(7.9), failed=True)
    assert completion.is_silent(Simulated([]).sample(8.0), failed=True)
    assert not completion.is_silent(Simulated([], [("network", 0.0, 1e9)]).sample(20.0), failed=True)


@given(st.floats(0.0, 0.45), st.floats(0.6, 3.9))
def test_while_the_same_text_is_rewritten_a_short_quiet_is_not_the_end(rewritten: float, quiet: float) -> None:
    still = Sample(2.0 + quiet, quiet, 1.0, ((1.0, 0.0),), frozenset(), {"stop": 2.0}, rewritten)
    assert Completion().judge(still) is None
    assert Completion().judge(replace(still, at=6.0, quiet=4.0)) == Verdict("signs", 0.5)
    assert Completion().judge(replace(still, rewritten=0.5)) == Verdict("signs", 0.5)


def test_a_long_thought_before_the_first_word_does_not_delay_the_end() -> None:
    assert Simulated([20.0, 20.1, 20.2]).extra() <= 4.2


@given(
    st.lists(st.floats(0.05, 3.0), min_size=1, max_size=30),
    st.sampled_from(sorted(FIRM | LOOSE)),
    st.floats(0.0, 0.35),
)
def test_no_reply_is_truncated_while_a_sign_accompanies_it(gaps: list[float], sign: str, late: float) -> None:
    moments, at = [], 0.0
    for gap in gaps:
        at += gap
        moments.append(at)
    page = Simulated(moments, [(sign, 0.0, at + late)])
    assert page.extra() >= 0


@given(st.lists(st.floats(0.05, 3.9), min_size=2, max_size=30))
def test_no_reply_is_truncated_without_signs_up_to_pauses_of_four_seconds(gaps: list[float]) -> None:
    moments, at = [], 0.0
    for gap in gaps:
        at += gap
        moments.append(at)
    assert Simulated(moments).extra() >= 0


@given(st.floats(0.6, 10.0), st.floats(0.0, 60.0))
def test_more_quiet_never_revokes_the_end(quiet: float, more: float) -> None:
    def sample(extra: float) -> Sample:
        return Sample(5.0 + quiet + extra, quiet + extra, 1.0, ((1.0, 0.0),), frozenset(), {"stop": 5.0})

    if Completion(Patience()).judge(sample(0.0)) is not None:
        assert Completion(Patience()).judge(sample(more)) is not None


def test_signs_that_outlast_whole_answers_are_mistrusted_from_the_second_time_on() -> None:
    known = Experience()
    assert known.trusts_signs({"animation", "send"}, whole=True)
    assert (known.stayed, known.mistrusted) == ({"animation", "send"}, set())
    assert known.trusts_signs({"send"}, whole=True)
    assert known.mistrusted == {"send"}
    assert known.trusts_signs({"animation", "send"}, whole=True)
    assert known.mistrusted == {"animation", "send"}


def test_half_an_answer_behind_a_lasting_sign_is_never_accepted_however_often_it_happens() -> None:
    known = Experience()
    for _ in range(5):
        assert not known.trusts_signs({"hint"}, whole=False)
    assert (known.stayed, known.mistrusted) == (set(), set()), "what half an answer showed is no reason"


@pytest.mark.parametrize("sign", ["animation", "hint", "send"])
def test_a_sign_that_has_outlasted_a_whole_answer_is_awaited_no_longer_than_a_text_without_signs(sign: str) -> None:
    known = Experience(stayed={sign})
    stuck = Simulated([0.5, 0.6], [("network", 0.0, 0.7), (sign, 0.3, 1e9)])
    found = stuck.judged(Completion(known=known))
    assert found is not None
    assert found[1] == Verdict("stuck", 4.0)
    assert found[0] == pytest.approx(4.7, abs=0.2)
    # Without anything else that tells the end it is waited for as before, and so is one not met yet.
    alone = replace(stuck, signs=stuck.signs[1:]).judged(Completion(known=known))
    fresh = stuck.judged(Completion())
    assert [found and round(found[0]) for found in (alone, fresh)] == [31, 31]


def test_a_request_amid_a_chain_of_requests_is_no_sign_that_lasts_for_ever() -> None:
    """As on a page of gradio whose server is 4 s away: requests of 8 s follow each other for 24 s after the answer,
    and one of them had just begun when it was taken. The next answer was then cut off while its turn was on the way."""
    completion, known = Completion(), Experience(stayed={"composer"})
    taken = Sample(57.0, 24.4, 0.1, (), frozenset({"composer", "network"}), {"stop": 40.5, "network": 56.9})
    assert completion.lingering_signs(taken) == {"composer"}
    assert known.trusts_signs(completion.lingering_signs(taken), whole=True)
    requests = [("network", begin, begin + 8.5) for begin in (0.0, 8.4, 16.8, 25.2)]
    following = Simulated([0.1, 8.4, 32.6], [*requests, ("composer", 8.3, 57.0), ("stop", 16.8, 40.5)])
    found = following.judged(Completion(known=known))
    assert found is not None
    assert found[0] >= 40.5
    polled = replace(taken, ended={"stop": 40.5})
    assert completion.lingering_signs(polled) == {"composer", "network"}, "a request that never ends"


def stored(seconds: float, *, bubble: float | None = None) -> Simulated:
    """An answer under a stop button after which the page sends requests for so many seconds. bubble: when these bring
    more text."""
    writes = [0.5, 0.6, 0.7] + ([] if bubble is None else [0.7 + bubble])
    return Simulated(writes, [("stop", 0.2, 1.0), ("network", 0.1, 0.8), ("network", 0.8, 1.0 + seconds)])


def test_requests_after_the_stop_button_are_awaited_until_three_answers_showed_no_text_after_them() -> None:
    known = Experience()
    waited = play(known, *[stored(24.0)] * 5)
    assert waited == pytest.approx([24.3, 24.3, 24.3, 0.8, 0.8], abs=0.15)


def test_requests_after_the_stop_button_are_always_awaited_if_text_ever_followed_one() -> None:
    known = Experience()
    waited = play(known, stored(24.0, bubble=9.0), *[stored(24.0)] * 5)
    assert waited == pytest.approx([15.3, *[24.3] * 5], abs=0.15)


def test_an_answer_that_continued_after_its_stop_button_ends_the_trust_in_later_requests() -> None:
    known = Experience(trails=3)
    known.learn_continuation(9.0, 20.0, signed=True)
    assert play(known, stored(24.0)) == pytest.approx([24.3], abs=0.15)


def test_short_requests_after_the_stop_button_teach_nothing() -> None:
    known = Experience()
    play(known, *[stored(3.0)] * 5)
    assert known.trails == 0


def test_a_sign_that_sometimes_sticks_is_neither_trusted_for_ever_nor_abandoned() -> None:
    known = Experience()
    for _ in range(3):
        finished(known, "animation", "network")
        assert known.trusts_signs({"animation"}, whole=True)
        assert (known.stayed, known.mistrusted) == ({"animation"}, set())


def finished(known: Experience, *signs: str) -> None:
    """An answer with these signs, whole after 2 s."""
    known.learn_answer(signs, dict.fromkeys(signs, 0.2), signs, 0.5, 2.0)


def test_signs_that_ended_with_one_answer_are_kept_with_those_of_others() -> None:
    known = Experience()
    for signs in (("stop",), (), ("network",)):
        finished(known, *signs)
    assert known.ended == {"stop", "network"}


def test_a_mistrusted_sign_that_goes_after_all_is_trusted_again() -> None:
    known = Experience(stayed={"animation"}, mistrusted={"animation"})
    finished(known, "animation")
    assert known.mistrusted == set()


def waits(known: Experience, *turns: Simulated) -> list[float]:
    """Seconds waited after the last change of each of these answers in turn; below 0 it was cut."""
    extra = []
    for page in turns:
        completion = Completion(known=known, first=known.use_extra_time())
        found = page.judged(completion)
        assert found is not None
        sample = page.sample(found[0])
        if sample.last_change == pytest.approx(page.writes[-1]):
            assert sample.began is not None
            lasted = completion.lasting_signs(sample)
            known.learn_answer(sample.ended.keys(), sample.came, lasted, sample.began, sample.last_change)
            known.learn_addition(completion.pause_before_addition(sample), 20.0)
            if not lasted:
                known.learn_pause(completion.longest_pause(sample), 4.0, 20.0)
        extra.append(round(found[0] - page.writes[-1], 1))
    return extra


def late_stop(first: float, writing: float, *, shown_after: float, by_sending: bool = True) -> Simulated:
    """An answer that is written from `first` on, and a stop button that is shown so long after the sending (or the
    first word), if there is still something to stop then."""
    moments = [round(first + 0.1 * step, 3) for step in range(int(writing / 0.1) + 1)]
    shown = shown_after if by_sending else first + shown_after
    return Simulated(moments, [("stop", shown, moments[-1] + 0.05)] if shown < moments[-1] else [])


@pytest.mark.parametrize("by_sending", [True, False])
def test_once_the_delay_of_the_stop_button_is_known_a_quick_answer_without_one_costs_little(
    by_sending: bool,
) -> None:
    def turn(first: float, writing: float) -> Simulated:
        return late_stop(first, writing, shown_after=0.6, by_sending=by_sending)

    known = Experience()
    quick = turn(0.2, 0.2)
    assert waits(known, quick, turn(0.3, 3.0), quick, turn(0.8, 2.0), quick)[::2] == pytest.approx([4, 4, 1.1], abs=0.2)
    assert max(waits(known, *[turn(first, writing) for first in (0.2, 0.5, 3.0) for writing in (0.2, 4)])) <= 2.5


def test_a_sign_that_is_missing_in_a_long_answer_is_no_evidence_any_more() -> None:
    known = Experience()
    long, quick = late_stop(0.3, 3.0, shown_after=0.6), late_stop(0.2, 0.2, shown_after=0.6)
    assert waits(known, long, long, quick)[-1] <= 1.3
    assert waits(known, Simulated([round(0.3 + 0.1 * step, 3) for step in range(40)]), quick)[-1] >= 4
    assert known.unsteady == {"stop"}


@given(
    st.floats(0.1, 2.0),
    st.lists(st.tuples(st.floats(0.1, 4.0), st.lists(st.floats(0.05, 3.9), max_size=6)), min_size=3, max_size=5),
    st.booleans(),
)
def test_knowing_that_a_stop_button_always_comes_truncates_no_answer(
    shown_after: float, answers: list[tuple[float, list[float]]], by_sending: bool
) -> None:
    known = Experience()
    for first, gaps in answers:
        moments = [first, *itertools.accumulate(gaps, initial=first)][1:]
        shown = shown_after if by_sending else first + shown_after
        signs = [("stop", shown, moments[-1] + 0.01)] if shown < moments[-1] else []
        assert waits(known, Simulated(moments, signs))[0] >= 0


NEVER_DONE = """<!doctype html><body><main role=log></main>
<form><textarea></textarea><button>Send</button></form><script>
const log = document.querySelector("main"), box = document.querySelector("textarea");
const add = (html) => log.insertAdjacentHTML("beforeend", html);
document.querySelector("form").onsubmit = async (event) => {
  event.preventDefault();
  add(`<div class=user>${box.value}</div>`);
  box.value = "";
  const text = ASKED ? await (await fetch("/answer")).text() : "It ends here.";
  setTimeout(() => add(`<div class=bot><p>${text}</p><progress></progress></div>`), 100);
};
</script>"""


async def said_on(browser: Browser, url: str, manners: Manners, known: Experience) -> ChatAnswer:
    window = await browser.open_window(BrowserSettings())
    try:
        chat = Chat(window, site_of({}), manners, known)
        await chat.open(url)
        return await chat.say("Where does it end?")
    finally:
        await window.close()


@pytest.mark.asyncio(loop_scope="session")
async def test_a_page_that_is_never_done_is_trusted_for_a_while_and_then_mistrusted(browser: Browser) -> None:
    manners, known = Manners(patience=Patience(stuck=2.0, alone=1.0)), Experience()
    answer = {"/": NEVER_DONE.replace("ASKED", "true"), "/answer": "It ends here."}
    async with pages(answer) as server:
        for finish in ("stuck", "stuck", "signs"):
            whole = await said_on(browser, server.url, manners, known)
            assert (whole.answer.text, whole.finish) == ("It ends here.", finish)
    assert known.mistrusted == {"progress"}


@pytest.mark.asyncio(loop_scope="session")
async def test_a_page_that_is_never_done_and_shows_nothing_else_is_unfinished_every_time(browser: Browser) -> None:
    manners, known = Manners(patience=Patience(stuck=1.0)), Experience()
    async with pages({"/": NEVER_DONE.replace("ASKED", "false")}) as server:
        for _ in range(3):
            with pytest.raises(Unanswered, match=r"unfinished: .*shows that more is coming \(progress\)") as fault:
                await said_on(browser, server.url, manners, known)
            assert fault.value.partial == "It ends here."


def test_late_output_of_a_blocked_page_still_belongs_to_the_sign_before_it() -> None:
    sample = Simulated([0.5, 0.6, 1.9], [("stop", 0.1, 0.7)]).sample(3.0)
    assert Completion().lasting_signs(sample) == {}
    assert Completion().lasting_signs(replace(sample, stalls=((0.9, 0.8),))) == {"stop": 0.7}
    # That it could not run before says nothing about a pause in which it could.
    assert Completion().lasting_signs(replace(sample, stalls=((0.9, 2.0), (0.3, 0.2)))) == {}
    # A page that stands still for long makes no sign of what ended long before.
    sample = Simulated([0.5, 0.6, 5.0], [("stop", 0.1, 0.7)]).sample(9.0)
    assert Completion().lasting_signs(replace(sample, stalls=((60.0, 0.6),))) == {}


@pytest.mark.parametrize("dots", ["hint", "progress", "animation"])
def test_a_request_does_not_mark_the_end_of_text_that_comes_after_a_typing_sign(dots: str) -> None:
    page = Simulated([0.6], [("network", 0.0, 0.3), (dots, 0.1, 0.6)])
    assert Completion().lasting_signs(page.sample(2.0)) == {}
    # What is drawn as soon as it has come is drawn in the place of the dots.
    page = Simulated([0.35], [("network", 0.0, 0.3), (dots, 0.1, 0.35)])
    assert Completion().lasting_signs(page.sample(2.0)) == {"network": 0.3}


def test_the_first_two_answers_of_a_new_site_get_extra_time_for_additions() -> None:
    known = Experience(untried=2)
    plain = Simulated([0.5, 0.6], [("network", 0.0, 0.65)])
    assert waits(known, plain, plain, plain) == pytest.approx([3.2, 3.2, 0.5], abs=0.1)


def test_another_bubble_after_the_first_answer_is_awaited_after_the_others_too() -> None:
    two, one = Simulated([0.5, 5.0]), Simulated([0.5])
    assert waits(Experience(untried=2), one, one, one) == pytest.approx([4.6, 4.6, 4.0], abs=0.1)
    assert waits(Experience(untried=2), two, one, two) == pytest.approx([6.75] * 3, abs=0.1)
    assert waits(Experience(), two)[0] < 0, "nothing on such a page says that more is to come"


@pytest.mark.parametrize("delay", [0.5, 0.8, 1.9])
def test_an_addition_to_the_first_answer_is_awaited_after_all_the_others(delay: float) -> None:
    known = Experience(untried=2)
    page = Simulated([0.5, 0.6, 0.6 + delay], [("network", 0.0, 0.65)])
    plain = Simulated([0.5, 0.6], [("network", 0.0, 0.65)])
    first, *others, none = waits(known, page, page, page, plain)
    assert first == pytest.approx(4.6, abs=0.1)
    assert others == pytest.approx([2 * delay] * 2, abs=0.2)
    assert none == pytest.approx(1.5 * delay, abs=0.2)


def test_after_an_addition_to_an_answer_the_next_ones_get_half_as_much_time_again() -> None:
    known = Experience()
    known.learn_continuation(2.0, 20.0, signed=True)
    assert (known.after, known.alone, known.in_vain) == (3.0, 0.0, 0)
    assert waits(known, Simulated([0.5, 0.6], [("network", 0.0, 0.6)])) == [pytest.approx(3.0, abs=0.1)]
    known.learn_continuation(2.5, 20.0, signed=True)
    assert (known.after, known.in_vain) == (3.75, 0), "it came sooner than is waited for now"
    known.learn_continuation(30.0, 20.0, signed=True)
    assert (known.after, known.in_vain) == (20.0, 1)


ANSWERED = """<!doctype html><body><main role=log></main>
<form><textarea></textarea><button>Send</button></form><script>
const log = document.querySelector("main"), box = document.querySelector("textarea");
const add = (html) => log.insertAdjacentHTML("beforeend", html);
const block = (ms) => { const until = performance.now() + ms; while (performance.now() < until); };
document.querySelector("form").onsubmit = async (event) => {
  event.preventDefault();
  add(`<div class=user>${box.value}</div>`);
  box.value = "";
  WORK
};
</script>"""
BLOCKED = """
  add("<div class=bot aria-busy=true><p>It begins here</p></div>");
  setTimeout(() => {
    block(1500);
    const bubble = log.lastChild;
    bubble.firstChild.append(" and ends here.");
    bubble.removeAttribute("aria-busy");
  }, 600);"""
FETCHED = """
  const text = await (await fetch("/answer")).text();
  add(`<div class=bot><p>${text}</p></div>`);"""


@pytest.mark.asyncio(loop_scope="session")
async def test_a_sign_that_went_while_the_page_was_blocked_went_with_the_text(browser: Browser) -> None:
    async with pages({"/": ANSWERED.replace("WORK", BLOCKED)}) as server:
        said = await said_on(browser, server.url, Manners(), Experience())
    assert (said.answer.text, said.finish) == ("It begins here and ends here.", "signs")


@pytest.mark.asyncio(loop_scope="session")
async def test_requests_and_text_have_one_clock_however_late_the_send_is_reported(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = Frame.mark_sent

    async def late(frame: Frame) -> None:
        await sent(frame)
        await asyncio.sleep(1.5)  # a busy machine: the page has long counted the turn as sent

    monkeypatch.setattr(Frame, "mark_sent", late)
    answer = {"/": ANSWERED.replace("WORK", FETCHED), "/answer": "It ends here."}
    async with pages(answer) as server:
        said = await said_on(browser, server.url, Manners(), Experience())
    assert (said.answer.text, said.finish) == ("It ends here.", "signs")


@pytest.mark.asyncio(loop_scope="session")
async def test_the_end_of_a_request_is_a_sign_even_if_the_press_that_sent_it_took_long(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    click = Part.click

    async def slow(part: Part) -> None:
        await asyncio.sleep(1.5)  # a busy machine: to find out where to press takes many calls
        await click(part)

    monkeypatch.setattr(Part, "click", slow)
    answer = {"/": ANSWERED.replace("WORK", FETCHED), "/answer": "It ends here."}
    async with pages(answer) as server:
        said = await said_on(browser, server.url, Manners(), Experience())
    assert (said.answer.text, said.finish) == ("It ends here.", "signs")


@dataclass
class Polling(Simulated):
    """A page that polls until a time."""

    until: float = 1e9

    def sample(self, at: float) -> Sample:
        return replace(super().sample(at), asking=at < self.until)


@dataclass
class Unheard(Simulated):
    """A page that listens over a socket, over which something comes from a time on."""

    heard: float = 1e9

    def sample(self, at: float) -> Sample:
        return replace(super().sample(at), heard=self.heard if self.heard <= at else math.inf)


def test_text_before_any_byte_may_be_the_pages_own() -> None:
    placeholder = Unheard([0.1, 14.0, 14.2], [], heard=14.0)
    assert placeholder.extra() == pytest.approx(4.0, abs=0.15)
    alone = Unheard([0.1], [])
    assert alone.extra() == pytest.approx(30.0, abs=0.15)
    completion = Completion()
    found = alone.judged(completion)
    assert found is not None
    completion.learn(alone.sample(found[0]))
    again = alone.judged(Completion(known=completion.known))
    assert again is not None
    assert again[0] < 5, "this page answers by itself"
    stopped = Unheard([0.1], [("stop", 0.0, 0.2)])
    assert stopped.extra() == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize(
    ("signs", "until", "waits"),
    [
        ([], 1e9, 30.0),
        ([], 12.0, 11.5),
        ([("network", 0.0, 0.5)], 1e9, 30.0),
        ([("stop", 0.0, 0.5)], 1e9, 0.5),
    ],
)
def test_text_shown_while_the_page_polls_may_be_a_placeholder(
    signs: list[tuple[str, float, float]], until: float, waits: float
) -> None:
    page = Polling([0.5], signs, until=until)
    assert page.extra() == pytest.approx(waits, abs=0.15)
    found = page.judged(Completion(known=Experience(asks_on=True)))
    assert found is not None
    assert found[0] < 5, "where polls never end they say nothing"
