"""The parrot behind the driver seam: seeds decide, nothing else; options are checked; delays are handed in."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import ValidationError

from harvest.audits.audit import load_audit
from harvest.drivers.parrot import Options, ParrotDriver, build
from harvest.parrot.parrot import Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES
from harvest.systems.driver import Opening, Reply, Surroundings
from harvest.systems.timing import Clock
from protocols.answer import Answer
from protocols.library import load_protocol
from protocols.route import Say
from recordings.conversations.conversation import TrialKey
from recordings.log.run_folder import read
from simulators.scripted import ScriptedUser
from simulators.user import Observation, Scenario, Streams
from tests.support.command_line import harvest
from tests.support.rehearsal import rehearse
from tests.support.stepping import Stepped
from topics.errors import InputError
from topics.identity import derived_seed
from topics.library import load_topics
from topics.topic import Topic, TopicSet, TopicType

TOPICS = load_topics("fairweb-45")
USER = ScriptedUser(load_protocol("fairweb-two-round"))


def driver(profile: str, topics: TopicSet | None = TOPICS) -> ParrotDriver:
    return build(Options(profile=profile), Surroundings("P", Path(), topics=topics))


async def talk(parrot: ParrotDriver, key: TrialKey, topic: Topic, opening: Opening) -> list[str]:
    session = await parrot.open(opening)
    rng = Streams(0, ("user",))
    said = []
    action, memory = USER.respond(USER.start(Scenario(topic), rng), None, rng)
    while isinstance(action, Say):
        await asyncio.sleep(random.random() / 500)  # let the others come between
        reply = await session.say(action.text)
        said.append(reply.turn.answer.text)
        action, memory = USER.respond(memory, Observation(reply.turn.answer), rng)
    await session.close()
    await session.close()
    return said


async def test_a_trial_is_the_same_conversation_in_any_order_among_any_others_and_in_rehearsal() -> None:
    parrot = driver("erratic")
    keys = [TrialKey("P", topic.id, trial) for topic in TOPICS.topics for trial in (1, 2)]
    random.Random(3).shuffle(keys)

    def opening(key: TrialKey) -> Opening:
        # The topic is nonsense on purpose: the parrot is told by the user's words alone.
        return Opening("?", "no such topic", -1, derived_seed(5, key.system, key.topic, key.trial, "system"))

    beside = await asyncio.gather(*(talk(parrot, key, TOPICS[key.topic], opening(key)) for key in keys))
    alone = Parrot(load_catalogue(), PROFILES["erratic"])
    rehearsed = {
        conversation.key: [turn.reply.answer.text for turn in conversation.turns if turn.reply]
        for conversation in rehearse(alone, USER, TOPICS.topics, trials=2, seed=5, system="P")
    }
    assert dict(zip(keys, beside)) == rehearsed


async def test_a_slow_parrot_waits_as_its_options_say_and_says_the_same() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    clock = Clock(sleep=sleep)
    catalogue = load_catalogue()
    topic = TOPICS.topics[0]
    opening = Opening("P", topic.id, 1, 11)
    quick = ParrotDriver(Parrot(catalogue, Options(profile="slow", delay=(0.0, 0.0)).resolved()), clock)
    slow = ParrotDriver(Parrot(catalogue, Options(profile="slow", delay=(1.0, 3.0)).resolved()), clock)
    texts = [[(await session.say(topic.request)).turn.answer.text, (await session.say("more?")).turn.answer.text]
             for session in [await quick.open(opening), await slow.open(opening)]]  # fmt: skip
    assert texts[0] == texts[1]
    assert len(waited) == 2
    assert all(1 <= seconds <= 3 for seconds in waited)
    assert waited[0] != waited[1]


def test_a_delay_uses_the_clock_of_the_surroundings_and_counts_as_the_time_of_the_answer() -> None:
    stepped = Stepped()
    around = Surroundings("P", Path(), topics=TOPICS, clock=stepped.clock)
    parrot = build(Options(profile="slow", delay=(20.0, 20.0)), around)

    async def said() -> Reply:
        return await (await parrot.open(Opening("P", "", 1, 1))).say(TOPICS.topics[0].request)

    reply = stepped.run(said())
    assert (reply.turn.first_seconds, reply.turn.seconds, stepped.seconds) == (20, 20, 20)


async def test_a_turn_carries_its_time_and_the_capabilities_are_declared() -> None:
    at = datetime(2031, 5, 4, 3, 2, 1, 7, tzinfo=UTC)
    parrot = ParrotDriver(Parrot(load_catalogue(), PROFILES["perfect"]), Clock(now=lambda: at))
    session = await parrot.open(Opening("P", "", 1, 1))
    reply = await session.say(TOPICS.topics[0].request)
    assert reply.turn.asked_at == "2031-05-04T03:02:01.000007+00:00"
    assert reply.turn.sends == 1
    assert not reply.turn.ended
    assert parrot.capabilities.stateful
    assert parrot.capabilities.editable_history
    assert parrot.capabilities.links


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"profile": "steddy"}, "there is no profile 'steddy': choose one of steady, erratic"),
        ({"first": {"list": 0.5}}, "first: the probabilities sum to 0.5"),
        ({"first": {"sing": 1.0}}, "first.sing"),
        ({"wrong": 2.0}, "wrong: 2.0 is not a probability"),
        ({"entities": 40}, "entities: 40 is not a number from 1"),
        ({"delay": (3.0, 1.0)}, "is not a range of seconds"),
        ({"wings": 2}, "unknown key wings"),
    ],
)
def test_options_that_do_not_make_a_parrot_are_refused_with_a_clear_word(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        Options.model_validate(options)


def test_options_replace_properties_of_the_profile_they_name() -> None:
    options = Options.model_validate({"profile": "steady", "first": {"list": 0.5, "bare": 0.5}, "entities": 3})
    profile = options.resolved()
    assert profile.first == {"list": 0.5, "bare": 0.5}
    assert profile.entities == 3
    assert profile.then == PROFILES["steady"].then


def test_an_audit_of_topics_the_catalogue_does_not_know_is_refused() -> None:
    strange = TopicSet("mine", (Topic("A1", TopicType("lighthouse"), "Please list up lighthouses."),), {})
    with pytest.raises(InputError, match="has none of the audit's topics"):
        driver("steady", strange)
    assert isinstance(driver("steady", TOPICS.only(["M002"])), ParrotDriver)
    assert isinstance(driver("steady", None), ParrotDriver)


async def test_a_users_own_catalogue_is_answered_from(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(
        "topic,entity,grade,title\nM002,https://www.imdb.com/title/tt9999999/,L2,One Lone Film\n", encoding="utf-8"
    )
    options = Options(profile="perfect", catalogue="mine.csv")
    parrot = build(options, Surroundings("P", tmp_path, topics=TOPICS))
    session = await parrot.open(Opening("P", "", 1, 1))
    answer: Answer = (await session.say(TOPICS["M002"].request)).turn.answer
    assert [link.href for link in answer.links] == ["https://www.imdb.com/title/tt9999999/"]


def test_a_folder_called_demo_does_not_hide_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demo").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_audit("demo").name == "demo"


@pytest.mark.parametrize("trials", [1, pytest.param(5, marks=pytest.mark.soak)])
def test_a_rehearsal_contains_the_words_of_a_real_run(tmp_path: Path, trials: int) -> None:
    done = harvest("run", "demo", "--trials", trials, "--out", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    audit = load_audit("demo")
    recorded = {
        conversation.key: [(exchange.said, exchange.answer) for exchange in conversation.exchanges]
        for conversation in read(tmp_path / "run").finished
    }
    rehearsed = {
        conversation.key: [(exchange.said, exchange.answer) for exchange in conversation.exchanges]
        for system in audit.systems
        for conversation in rehearse(
            Parrot(load_catalogue(), PROFILES[system.options["profile"]]),
            USER,
            TOPICS.topics,
            trials=trials,
            seed=audit.seed,
            system=system.name,
        )
    }
    assert len(rehearsed) == 45 * 2 * trials
    assert recorded == rehearsed
