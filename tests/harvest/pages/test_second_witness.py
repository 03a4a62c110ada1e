"""The second witness on real pages: every reply is found on the wire, nothing else is taken for it, faults are seen.

The faults are planted in what was read, and the accounts made anew from what the page had received.
"""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from harvest.drivers.browser import Options, build
from harvest.pages.chats import second_witness
from harvest.pages.witness.account import Account, KeyParts, make_account
from harvest.pages.witness.judgement import SiteKnowledge, judge
from harvest.pages.witness.opening import OpenedContent
from harvest.pages.witness.strands import EarlierTexts
from harvest.systems.driver import Driver, Opening, Surroundings
from tests.harvest.pages.conftest import SharedInterface
from tests.support.interfaces import FURTHER, NAMES, NEW, awkward_pages
from tests.support.planted import FAULTS, echoed

SAID = ("Tell me of trams", "Please give me a table", "Write some code", "And what of the islands?", "Yes or no?")
PAGES = (
    "plain",
    "web-socket",
    "event-source",
    "polled-parts",
    "long-polling",
    "frame-other",
    "rich",
    "code",
    "bubbles",
)


@dataclass(frozen=True, slots=True)
class Given:
    """What the witness was given in one turn, for accounts of another reading."""

    opened: OpenedContent
    said: str
    answer: str
    before: frozenset[str]

    def account(self, answer: str, known: frozenset[KeyParts]) -> Account:
        return make_account(self.opened, self.said, answer, EarlierTexts(set(self.before)), known)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Given]:
    """Every turn that the witness is asked about from now on."""
    found: list[Given] = []

    def listening(
        opened: OpenedContent, said: str, answer: str, heard: EarlierTexts, known: frozenset[KeyParts] = frozenset()
    ) -> Account:
        found.append(Given(opened, said, answer, frozenset(heard.texts)))
        return make_account(opened, said, answer, heard, known)

    monkeypatch.setattr(second_witness, "make_account", listening)
    return found


@asynccontextmanager
async def driver_of(url: str) -> AsyncIterator[Driver]:
    driver = build(Options.model_validate({"url": url, "evidence": ()}), Surroundings("page", Path()))
    try:
        yield driver
    finally:
        await driver.close()


async def conversations(url: str, count: int, said: Sequence[str] = SAID) -> list[Account]:
    found = []
    async with driver_of(url) as driver:
        for trial in range(1, count + 1):
            session = await driver.open(Opening("page", "T", trial, trial))
            for text in said:
                reply = await session.say(text)
                (kept,) = (one.data for one in reply.exhibits if one.name == "wire")
                found.append(Account.from_bytes(kept))
            await session.close()
    return found


def planted(given: Sequence[Given], rate: float) -> tuple[int, int, int]:
    """(faults seen, faults, false alarms) where a share of the readings is made faulty."""
    rng = random.Random(f"{rate}")
    met, accounts, faulty = SiteKnowledge(), list[Account](), list[bool]()
    for one in given:
        answer = one.answer
        if rng.random() < rate:
            readings = [other for fault in FAULTS if (other := fault(answer)) is not None]
            answer = rng.choice([*readings, echoed(answer, one.said)])
        accounts.append(one.account(answer, met.known_keys))
        met.add_account(accounts[-1])
        faulty.append(answer != one.answer)
    words = [verdict.word for verdict in judge(accounts).verdicts]
    seen = sum(word == "differs" for word, wrong in zip(words, faulty) if wrong)
    return seen, sum(faulty), sum(word == "differs" for word, wrong in zip(words, faulty) if not wrong)


async def test_replies_of_a_page_are_found_and_faults_are_seen(given: list[Given]) -> None:
    with awkward_pages() as pages:
        accounts = await conversations(pages.url("plain"), 2, SAID[:3])
    assert {verdict.word for verdict in judge(accounts).verdicts} == {"agrees"}
    seen, faults, false = planted(given, 1.0)
    assert (seen, false) == (faults, 0)


@pytest.mark.soak
@pytest.mark.parametrize("name", [*PAGES, *NAMES, *FURTHER, *NEW])
async def test_sixty_replies_of_each_interface(
    name: str, given: list[Given], shared_interface: SharedInterface, capsys: pytest.CaptureFixture[str]
) -> None:
    if name in PAGES:
        with awkward_pages() as pages:
            accounts = await conversations(pages.url(name), 30, SAID[:2])
    else:
        accounts = await conversations(shared_interface(name).url, 12)
    words = [verdict.word for verdict in judge(accounts).verdicts]
    some, every = planted(given, 0.3), planted(given, 1.0)
    with capsys.disabled():
        print(
            f"\n{name}: found {words.count('agrees')} of {len(words)}; differ {words.count('differs')}; {some} {every}"
        )
    assert words.count("agrees") >= 0.98 * len(words)
    assert words.count("differs") == 0
    assert some[2] == every[2] == 0
    assert some[0] >= 0.97 * some[1]
    assert every[0] >= 0.9 * every[1]
