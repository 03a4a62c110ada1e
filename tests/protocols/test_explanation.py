"""Decisions explained: each rule that was tried, whether it was met, and why, in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from protocols.answer import Answer, Exchange
from protocols.explanation import explain_route
from protocols.interpreter import advance, begin
from protocols.library import load_protocol
from protocols.protocol import Protocol
from protocols.route import Route, Say
from topics.topic import Topic, TopicType

TOPIC = Topic("T", TopicType("loan", "a loan"), "Was kostet ein Auto?")


def bank(folder: Path, edges: str, rules: str = "{}") -> Protocol:
    path = folder / "bank.yaml"
    path.write_text(
        f"format: harvest-protocol/1\nname: bank\nversion: 1\nrules: {rules}\nstart: ask\nstates:\n"
        f'  ask:\n    say: "{{{{ topic.request }}}}"\n'
        f"    edges: [{edges}, {{otherwise: true, label: x, stop: completed}}]\n"
    )
    return load_protocol(path)


def decided(protocol: Protocol, answer: str) -> tuple[Route, Sequence[Exchange]]:
    action, position = begin(protocol, TOPIC)
    assert isinstance(action, Say)
    exchanges = [Exchange(action.text, Answer.of(answer))]
    route = advance(protocol, TOPIC, position, exchanges)[0].route
    assert route is not None
    return route, exchanges


PRICE = "{contains: {pattern: '\\d{1,9} Euro'}}"
CASES = {
    # The condition and the answer → whether it is met, and why.
    "a phrase that must not be there": (
        "{not: {contains: {phrases: [Kredit]}}}", "Mit Kredit.",
        (False, "excluded by contains: one of the phrases: “Kredit”"),
    ),
    "a phrase that is rightly not there": (
        "{not: {contains: {phrases: [Kredit, Darlehen]}}}", "Bar.",
        (True, "nothing excludes it: contains: Kredit | Darlehen: not found"),
    ),
    "a named rule that must not hold": ("{not: price}", "9 Euro", (False, "excluded by price: the pattern: “9 Euro”")),
    "a rule that is negated twice": ("{not: {not: price}}", "9 Euro", (True, "the pattern: “9 Euro”")),
    "the part of all that fails": (
        f"{{all: [{{words: {{at_least: 2}}}}, {PRICE}]}}", "Sehr viel Geld.",
        (False, r"contains: \d{1,9} Euro: not found"),
    ),
    "all parts of all": (
        f"{{all: [{{words: {{at_least: 2}}}}, {PRICE}]}}", "Etwa 900 Euro.",
        (True, "words: at least 2 words: 3 words; contains: the pattern: “900 Euro”"),
    ),
    "the part of any that holds": ("{any: [{empty: {}}, price]}", "9 Euro", (True, "price: the pattern: “9 Euro”")),
    "all parts of any": (
        "{any: [{words: {at_least: 9}}, price]}", "Viel.",
        (False, r"words: at least 9 words: 1 words; price: \d{1,9} Euro: not found"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_rule_is_met_or_not_and_the_words_say_why(case: str, tmp_path: Path) -> None:
    condition, answer, (met, why) = CASES[case]
    protocol = bank(tmp_path, f"{{if: {condition}, label: o, stop: completed}}", f"{{price: {PRICE}}}")
    route, exchanges = decided(protocol, answer)
    (found,) = explain_route(protocol, TOPIC, exchanges, [], route)
    assert (found.met, found.why) == (met, why)
    assert found.met == (route.label == "o")


def test_rules_after_the_one_that_is_met_are_not_explained(tmp_path: Path) -> None:
    edges = ", ".join(f"{{if: {{contains: {{phrases: [{word}]}}}}, label: o, stop: completed}}" for word in "abc")
    protocol = bank(tmp_path, edges)
    route, exchanges = decided(protocol, "b c")
    found = explain_route(protocol, TOPIC, exchanges, [], route)
    assert [(one.name, one.met) for one in found] == [("contains", False), ("contains-2", True)]


def test_verdicts_of_other_rules_have_no_explanation(tmp_path: Path) -> None:
    edge = "{if: {contains: {phrases: [PHRASE]}}, label: o, stop: completed}"
    route, exchanges = decided(bank(tmp_path, edge.replace("PHRASE", "Kredit")), "Kredit")
    other = bank(tmp_path, edge.replace("PHRASE", "Darlehen"))
    assert explain_route(other, TOPIC, exchanges, [], route) == ()


def test_a_rule_nested_twelve_times_is_explained_at_once(tmp_path: Path) -> None:
    condition = "{empty: {}}"
    for _ in range(12):
        condition = f"{{not: {{all: [{{words: {{at_least: 1}}}}, {condition}]}}}}"
    protocol = bank(tmp_path, f"{{if: {condition}, label: o, stop: completed}}")
    route, exchanges = decided(protocol, "Guten Tag.")
    assert explain_route(protocol, TOPIC, exchanges, [], route)[0].met == (route.label == "o")
