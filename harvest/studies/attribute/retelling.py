"""Relabel a run's conversations by other rules, or by today's reading of its pages.

Words and answers stay. Labels are decided again along each conversation; turns after an earlier end are dropped, and
if the rules would have continued, what would have followed is unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harvest.pages.chats.reread import read_again
from protocols.answer import Answer, Exchange
from protocols.interpreter import retrace
from protocols.protocol import Protocol
from protocols.route import Stop
from recordings.conversations.conversation import Conversation, Turn
from recordings.events.attempts import AttemptId
from recordings.log.run_folder import Run
from topics.topic import TopicSet


@dataclass(frozen=True, slots=True)
class Reading:
    """Answers as today's code reads them from stored pages.

    answers: those that changed, by attempt and turn.
    refused: attempts with a page that counts as a fault today.
    read, unread: numbers of answers with and without a readable stored page.
    """

    answers: Mapping[AttemptId, Mapping[int, Answer]]
    refused: frozenset[AttemptId]
    read: int
    unread: int


def todays_reading(run: Run, system: str) -> Reading:
    """Read a run's stored pages with today's code. Contacts no system and leaves the run unchanged."""
    answers: dict[AttemptId, dict[int, Answer]] = {}
    refused: set[AttemptId] = set()
    found, _ = read_again(run, system=system)
    for one in found:
        attempt = (one.conversation.trial_id, one.conversation.attempt)
        if one.changed and one.now is not None:
            answers.setdefault(attempt, {})[one.turn.number] = one.now
        if one.refused:
            refused.add(attempt)
    read = sum(one.now is not None for one in found)
    return Reading(answers, frozenset(refused), read, len(found) - read)


def decide_again(
    one: Conversation, protocol: Protocol | None, topics: TopicSet, answers: Mapping[int, Answer] | None = None
) -> Conversation:
    """Return the conversation with today's answers and decisions of `protocol`; unchanged if no rules decided."""
    turns = tuple(_replace_answer(turn, (answers or {}).get(turn.number)) for turn in one.turns)
    if protocol is None or all(turn.route is None for turn in one.turns):
        return replace(one, turns=turns)
    answered = [turn for turn in turns if turn.reply is not None]
    exchanges = [Exchange(turn.said, turn.reply.answer) for turn in answered if turn.reply is not None]
    # Any words match, whatever another user would have said.
    actions = retrace(protocol, topics[one.key.topic], exchanges, reworded=True)
    routes = {turn.number: action.route for turn, action in zip(answered, actions[1:], strict=False)}
    last = answered[len(actions) - 2].number if isinstance(actions[-1], Stop) and len(actions) > 1 else None
    kept = [turn for turn in turns if last is None or turn.number <= last]
    return replace(
        one, turns=tuple(replace(turn, route=routes[turn.number]) if turn.number in routes else turn for turn in kept)
    )


def _replace_answer(turn: Turn, answer: Answer | None) -> Turn:
    if answer is None or turn.reply is None:
        return turn
    return replace(turn, reply=replace(turn.reply, answer=answer))
