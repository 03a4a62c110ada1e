"""A model that words a probe's turns: whatever it does, it changes no verdict about the system."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from protocols.answer import Answer
from protocols.library import load_protocol
from protocols.route import Say, Stop
from simulators.llm.user import Options, build
from simulators.outside import Prompt, Sample, SuppliedUser
from simulators.probing import probe
from simulators.registry import build_users
from simulators.user import Observation, Scenario, Streams, User
from tests.support.enumerable_users import MOVIES
from topics.document import parse_document

PLACES = ("Bergen", "Oslo", "jasmine", "mint")
PLAN = """
facts:
  home:
    plant: ["My parents live in {{ topic.fields.city | default('Bergen') }}.", "Bergen is where my parents live."]
    ask: [In which town do my parents live?]
    right: [Bergen]
    wrong: [Oslo]
    premise: ["As my parents live in Oslo, is it far from the sea?"]
    change: [They have moved to Oslo.]
    then: {right: [Oslo]}
  tea:
    plant: [I only ever drink jasmine tea.]
    ask: [Which tea do I drink?]
    right: [jasmine]
    wrong: [mint]
distractors: [What is a fjord?, How are ropes made?, Who invented the zip fastener?]
steps: [{plant: home}, {plant: tea}, {distract: 1}, {ask: home}, {ask: tea}, {distract: 2}, {ask: home},
  {challenge: tea, how: contrary}, {premise: home}, {change: home}, {ask: home}]
"""
PLAIN = Options.model_validate({})
Words = Callable[[Prompt, str], str]


def _swap(text: str) -> str:
    for one, other in (PLACES[:2], PLACES[2:]):
        text = text.replace(one, "#").replace(other, one).replace("#", other)
    return text


MODELS: dict[str, Words] = {
    "says another thing": lambda prompt, meant: _swap(meant),
    "leaves it out": lambda prompt, meant: " ".join(word for word in meant.split() if word.strip(".,") not in PLACES),
    "says it in each turn": lambda prompt, meant: f"{meant} By the way: Bergen, jasmine.",
    "says it as a guess": lambda prompt, meant: meant.replace("?", ", is it bergen or jasmine?"),
    "says both": lambda prompt, meant: f"{meant} Not Oslo, not mint.",
    "says what was said before": lambda prompt, meant: (
        " ".join(one.text for one in prompt.messages[2:] if one.role == "assistant")[:200] + meant
    ),
    "is polite": lambda prompt, meant: f"please, {meant[0].lower()}{meant[1:]}",
}


def _says(model: Words) -> Callable[[Prompt], Sample]:
    def words(prompt: Prompt) -> Sample:
        told = prompt.messages[0].text
        meant = told.split("not the person's own yet:\n")[1].split("\n\nSay this as")[0]
        return Sample(model(prompt, meant), "stop")

    return words


def _play(user: User, answer: Callable[[Say], Answer]) -> list[tuple[Say, Answer]]:
    streams, found, heard = Streams(4, ("probe", "M002", 1)), list[tuple[Say, Answer]](), None
    state = user.start(Scenario(MOVIES), streams.at(0))
    while True:
        action, state = user.respond(state, heard, streams.at(len(found) + 1))
        if isinstance(action, Stop):
            return found
        found.append((action, answer(action)))
        heard = Observation(found[-1][1], "o")


def _verdicts(model: Words | None, remembers: int) -> list[tuple[str, str, str | None]]:
    """With a system that names what it was told last, in so many of the latest turns."""
    plan = parse_document(PLAN, "plan.yaml").validate_as(probe.Options)
    user = probe.build(plan)
    heard: list[str] = []

    def answer(turn: Say) -> Answer:
        heard.append(turn.text)
        seen = " ".join(heard[-remembers:]).casefold()
        pairs = [pair for pair in (PLACES[:2], PLACES[2:]) if any(one.casefold() in seen for one in pair)]
        return Answer(" and ".join(max(pair, key=lambda one: seen.rfind(one.casefold())) for pair in pairs) or "Hm.")

    turns = _play(user if model is None else SuppliedUser(build(PLAIN, user), _says(model)), answer)
    told = [(turn.state, reply) for turn, reply in turns]
    return [(one.act, one.fact, one.verdict) for one in probe.findings(plan, MOVIES, told)]


@pytest.mark.parametrize("remembers", [99, 1])
@pytest.mark.parametrize("name", MODELS)
def test_no_model_changes_the_findings_about_a_system(name: str, remembers: int) -> None:
    own = _verdicts(None, remembers)
    assert {verdict for act, _, verdict in own if act == "ask"} == {"right" if remembers > 1 else "neither"}
    assert _verdicts(MODELS[name], remembers) == own


@pytest.mark.parametrize("name", ["customisability", "modesty", "harmlessness"])
def test_a_model_does_not_reword_turns_whose_words_are_the_test(name: str) -> None:
    (user,) = build_users(load_protocol(name)).values()
    assert isinstance(user, probe.ProbingUser)
    asked: list[str] = []

    def words(prompt: Prompt) -> Sample:
        asked.append(prompt.act)
        return Sample("In one word, please.", "stop")

    own, worded = (
        [turn.text for turn, _ in _play(player, lambda turn: Answer("Hm.")) if turn.state in user.exact_acts]
        for player in (user, SuppliedUser(build(PLAIN, user), words))
    )
    assert own
    assert worded == own
    assert not user.exact_acts & set(asked)
