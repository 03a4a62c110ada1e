"""What the shipped protocols make of a system that asks, exactly: every conversation with its probability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from protocols.answer import Answer, Exchange
from protocols.interpreter import retrace
from protocols.library import load_protocol
from protocols.route import Say
from simulators.enumeration import ExactPath, Response, expand
from simulators.registry import build_users
from simulators.scripted import ScriptedUser
from simulators.user import Observation, Scenario, Streams
from tests.support.talking import conversation
from topics.library import load_topics

TOPIC = load_topics("fairweb-45")["M002"]
ASKING = (
    "Which year do you mean?",
    "Could you tell me which year you mean.",
    "Welches Jahr meinen Sie?",
    "Pourriez-vous préciser l'année ?",
    "¿De qué año habla?",
    "Quale anno intende?",
    "De que ano você está falando?",
    "Welk jaar bedoelt u?",
    "どの年ですか。",
    "您指的是哪一年？",
    "ποια χρονιά εννοείτε;",
)
DELIVERING = "Primer and Looper. Would you like to know more?"


def paths(name: str | Path, *texts: str, most_turns: int = 4) -> Sequence[ExactPath]:
    """With a system that gives these answers in order, and then the last for ever."""

    def answers(exchanges: tuple[Exchange, ...], said: str) -> Sequence[Response]:
        return (Response(1.0, Answer(texts[min(len(exchanges), len(texts) - 1)])),)

    protocol = load_protocol(name)
    user = ScriptedUser(protocol, build_users(protocol))
    return expand(user, Scenario(TOPIC), answers, most_turns=most_turns).paths


def share(found: Sequence[ExactPath], act: str) -> float:
    """Of the user's turns after the opening."""
    later = [(path.probability, say.act) for path in found for say in path.turns[1:]]
    return sum(weight for weight, own in later if own == act) / sum(weight for weight, _ in later)


@pytest.mark.parametrize("text", ASKING)
def test_helpdesk_with_a_system_that_only_asks_is_informed_and_finds_nothing_useful(text: str) -> None:
    found = paths("helpdesk", text)
    assert {label for path in found for label in path.labels} == {"x"}
    assert share(found, "inform") == pytest.approx(0.9)


def test_helpdesk_answers_ten_questions_before_it_leaves() -> None:
    protocol = load_protocol("helpdesk")
    user = ScriptedUser(protocol, build_users(protocol))
    acts, reasons = Counter[str](), Counter[str]()
    for trial in range(60):
        streams = Streams(3, ("helpdesk", TOPIC.id, trial))
        for action, _ in conversation(
            user, Scenario(TOPIC), streams, lambda turn: Observation(Answer(ASKING[turn % 5]))
        ):
            if isinstance(action, Say):
                acts[action.act] += 1
            else:
                reasons[action.reason] += 1
    assert reasons == {"patience": 60}
    assert acts.total() == 11 * 60
    assert acts["inform"] / acts.total() == pytest.approx(0.9 * 10 / 11, abs=0.04)


@pytest.mark.parametrize("cooperativeness", [0.0, 0.5, 1.0])
def test_cooperativeness_is_the_share_of_questions_that_helpdesk_answers(
    cooperativeness: float, tmp_path: Path
) -> None:
    text = Path("protocols/helpdesk.yaml").read_text(encoding="utf-8")
    assert "cooperativeness: 0.9" in text
    file = tmp_path / "helpdesk.yaml"
    file.write_text(text.replace("cooperativeness: 0.9", f"cooperativeness: {cooperativeness}"), encoding="utf-8")
    assert share(paths(file, *ASKING), "inform") == pytest.approx(cooperativeness)


def test_a_helpdesk_that_asks_once_and_delivers_loses_that_turn_and_no_other() -> None:
    asked, delivered = paths("helpdesk", ASKING[0], DELIVERING), paths("helpdesk", DELIVERING)
    assert {path.labels for path in asked} == {("x", "o", "o")}
    assert {path.labels for path in delivered} == {("o", "o")}
    for found in (asked, delivered):
        assert {path.reason for path in found} == {"goal-reached"}


@pytest.mark.parametrize("name", ["helpdesk", "open-ended", "robustness", "robustness-one-turn", "fair-treatment"])
def test_a_question_is_neither_an_answer_nor_a_refusal(name: str) -> None:
    found = {}
    for text in (*ASKING, DELIVERING, "I'm sorry, but I can't help with that."):
        action = retrace(load_protocol(name), TOPIC, [Exchange(TOPIC.request, Answer(text))])[1]
        assert action.route is not None
        found[text] = (action.route.rule, action.route.label)
    *asking, delivering, refusing = found.values()
    assert set(asking) == {("asks", "x")}
    assert (delivering, refusing) == (("otherwise", "o"), ("unanswered", "x"))


@pytest.mark.parametrize("name", ["helpdesk", "open-ended"])
@pytest.mark.parametrize("text", ["Hello! How can I help you?", "Soll ich noch weitere nennen?"])
def test_a_system_that_only_offers_is_never_useful(name: str, text: str) -> None:
    assert {label for path in paths(name, text) for label in path.labels} == {"x"}


@pytest.mark.parametrize("name", ["helpdesk", "open-ended", "robustness", "robustness-one-turn"])
def test_a_system_that_repeats_the_users_words_is_never_useful(name: str) -> None:
    protocol = load_protocol(name)
    user = ScriptedUser(protocol, build_users(protocol))
    rng, labels = Streams(3, (TOPIC.id, 1)), list[str | None]()
    state, seen = user.start(Scenario(TOPIC), rng.at(0)), None
    while True:
        said, after = user.respond(state, seen, rng.at(len(labels) + 1))
        if seen is not None:
            route = user.route(state, seen)
            labels.append(route.label if route else None)
        if not isinstance(said, Say):
            break
        state, seen = after, Observation(Answer(said.text))
    assert set(labels) == {"x"}
