"""What users who leave cost a system: nothing, whatever their reason is called; how many left is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harvest.studies.validity.odd_users import leaving_sentences, users_leaving
from protocols.answer import Answer, Exchange
from protocols.route import Route, Say
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from scoring.measures.usefulness import labels, useful_cells
from simulators import markov
from simulators.enumeration import Response, expand
from simulators.user import Scenario
from tests.support.scoring_examples import conversation
from topics.document import parse_document
from topics.topic import Topic, TopicType

TOPIC = Topic("T1", TopicType("film"), "Which films are about time travel?")
AFTER_O, AFTER_X = 0.15, 0.40
USERS = {  # alike in what they do, unlike in what they call it
    "two-alpha": """
        rows: [{after: [start], next: {ask: 1}}, {after: [ask], next: {ask: 1}}]
        stop: {model: two-alpha, useful: 0.85, useless: 0.6}
        """,
    "table": """
        rows:
          - {after: [start], next: {ask: 1}}
          - {after: [ask], answer: o, next: {ask: 0.85, stop: 0.15}}
          - {after: [ask], answer: x, next: {ask: 0.6, stop: 0.4}}
          - {after: [ask], next: {ask: 1}}
        """,
}


def conversations(name: str, useful: float, turns: int = 5) -> list[tuple[float, Conversation]]:
    """All that the user has with a system that is useful with this probability, each with its own."""

    def answers(exchanges: Sequence[Exchange], said: str) -> Sequence[Response]:
        return (Response(useful, Answer("Primer."), "o"), Response(1 - useful, Answer("Hm."), "x"))

    user = markov.build(parse_document(USERS[name], "user.yaml").validate_as(markov.Options))
    found = []
    for path in expand(user, Scenario(TOPIC), answers, most_turns=turns).paths:
        steps = zip(path.turns, path.exchanges, path.labels, strict=True)
        spoken = tuple(_turn(say, exchange.answer, label or "") for say, exchange, label in steps)
        end = Outcome(path.outcome, path.reason)
        found.append((path.probability, Conversation(TrialKey("S", "T1", 1), "S-T1-1", 1, spoken, end)))
    return found


def _turn(say: Say, answer: Answer, label: str) -> Turn:
    return Turn(say.turn, "talk", say.text, SystemTurn(answer), Route(say.turn, "talk", label, "r", "1", (), "talk"))


@pytest.mark.parametrize("useful", [0.2, 0.5, 0.9])
def test_users_with_the_same_hazards_give_the_same_figures_whatever_their_reasons(useful: float) -> None:
    figures, reasons = {}, {}
    for name in USERS:
        found = conversations(name, useful)
        reasons[name] = {one.outcome.reason for _, one in found if one.outcome and one.outcome.kind == "user-stopped"}
        for turn in range(5):
            cells = [(weight, useful_cells(labels(one, 5))[turn]) for weight, one in found]
            asked = [(weight, cell) for weight, cell in cells if cell == cell]
            figures[name, turn] = sum(w * cell for w, cell in asked) / sum(w for w, _ in asked)
    assert reasons == {"two-alpha": {"satisfied", "frustrated"}, "table": {"left"}}
    for turn in range(5):
        # The system is the same at every turn, and so is its figure: no user's leaving is in it.
        assert figures["two-alpha", turn] == pytest.approx(figures["table", turn], abs=1e-12)
        assert figures["table", turn] == pytest.approx(useful, abs=1e-12)


@pytest.mark.parametrize("name", USERS)
def test_the_shares_that_left_are_the_hazards(name: str) -> None:
    left, answers = dict.fromkeys("ox", 0.0), dict.fromkeys("ox", 0.0)
    for weight, one in conversations(name, 0.5):
        limited = len(one.turns) == 5  # as by a protocol, which does not ask the user at its turn limit
        for label, found in users_leaving([replace(one, outcome=Outcome("turn-limit")) if limited else one]).items():
            left[label] += weight * found.left
            answers[label] += weight * found.answers
    assert left["x"] / answers["x"] == pytest.approx(AFTER_X)
    assert left["o"] / answers["o"] == pytest.approx(AFTER_O)


def test_a_sentence_says_who_left_by_system_and_label() -> None:
    two = ("a", "b"), ("c", "d")
    rows = [
        conversation(*two, labels="xo", system="A", topic="T1", outcome=Outcome("user-stopped", "left")),
        conversation(*two[:1], labels="x", system="A", topic="T2", outcome=Outcome("user-stopped", "frustrated")),
        conversation(*two, labels="xx", system="B", topic="T1", outcome=Outcome("turn-limit")),
        conversation(*two[:1], labels="x", system="B", topic="T2", outcome=Outcome("breakdown")),
        conversation(*two[:1], labels="x", system="B", topic="T3", outcome=Outcome("user-stopped", "budget")),
    ]
    told, before = leaving_sentences(rows)
    assert told == (
        "Users left after x: A 50% (1 of 2), B 0% (0 of 1); after o: A 100% (1 of 1), B n/a (0 of 0). "
        "The turns that they did not take are in no figure, whatever their reason."
    )
    assert before.startswith("In 1 conversation the user left as frustrated")
    assert list(leaving_sentences(rows[2:])) == []
    imported = conversation(*two[:1], labels="x", outcome=Outcome("user-stopped", "imported"))
    assert list(leaving_sentences([imported])) == []
