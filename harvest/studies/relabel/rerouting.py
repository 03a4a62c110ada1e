"""Repeat the decisions of a recorded conversation, with another protocol or after its answers were read again.

The recorded user turns cannot change. Decisions are therefore repeated only as long as the protocol would still
have said the recorded words. Once the protocol would take another path, the later turns cannot be decided.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from protocols.answer import Answer, Exchange
from protocols.interpreter import retrace
from protocols.protocol import Protocol
from protocols.route import Ask, Route, Say, Stop
from recordings.conversations.conversation import INVALID, Conversation, Outcome, Turn
from recordings.conversations.endings import is_bad_ending
from simulators.wrappers.wrapped import REWORDING
from topics.topic import Topic

# Reason of an attempt that is invalid because its user replied to misread answers.
PARTED_REASON = "read-anew"


@dataclass(frozen=True, slots=True)
class Rerouted:
    """The result of repeating a conversation's decisions.

    `routes` has, by turn, the decisions that changed, and the decisions whose answer was read differently. `parted`
    is the turn after which the protocol would take another path, and `because` describes that path. If the path is
    unchanged, `parted` is 0. `outcome` is the new outcome, or None if the outcome is unchanged. `other_rules` lists
    the turns at which the current rules decide differently even on the recorded text.
    """

    routes: Mapping[int, Route] = field(default_factory=dict)
    parted: int = 0
    because: str = ""
    outcome: Outcome | None = None
    other_rules: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DecidedPath:
    """A protocol's decisions along a recorded conversation, by turn.

    If the protocol would leave the recorded path, `because` describes how, and `parted` is the turn after which it
    would; 0 means that it opens with other words. `cut` is the outcome if it would stop there, so that the whole
    conversation is known. On the recorded path, `because` is "", and `outcome` is the protocol's end; None if the
    conversation would continue, or if the protocol did not decide its end.
    """

    routes: Mapping[int, Route]
    parted: int = 0
    because: str = ""
    outcome: Outcome | None = None
    cut: Outcome | None = None


def reroute(protocol: Protocol, topic: Topic, conversation: Conversation, answers: Mapping[int, Answer]) -> Rerouted:
    """Repeat a conversation's decisions with `answers`, by turn, in place of the recorded answers."""
    before = decided_path(protocol, topic, conversation, {})
    after = decided_path(protocol, topic, conversation, answers)
    routes: dict[int, Route] = {}
    other_rules: list[int] = []
    for turn in conversation.turns:
        old, new, recorded = before.routes.get(turn.number), after.routes.get(turn.number), turn.route
        if recorded is None:
            continue
        if new is None:
            if turn.number in answers:
                routes[turn.number] = refit_evidence(recorded, answers[turn.number])
            continue
        # `harvest relabel` reports what only the rules decide differently.
        if turn.number in answers or (old is not None and _decision_key(old) != _decision_key(new)):
            routes[turn.number] = new
            if old is not None and _decision_key(old) != _decision_key(recorded):
                other_rules.append(turn.number)
    if after.parted and not (before.parted and before.parted <= after.parted):
        outcome = Outcome(INVALID, PARTED_REASON, after.because) if conversation.valid else None
        return Rerouted(routes, after.parted, after.because, outcome, tuple(other_rules))
    was, now = conversation.outcome, after.outcome
    if was is None or now is None or before.outcome is None or before.outcome.kind != was.kind or now.kind == was.kind:
        now = None
    return Rerouted(routes, 0, "", now, tuple(other_rules))


def refit_evidence(route: Route, answer: Answer) -> Route:
    """Return a recorded decision for a new text of its answer. If a quote is no longer at its recorded position,
    the position becomes -1."""
    evidence = tuple(
        piece
        if piece.start < 0 or answer.text[piece.start : piece.end] == piece.quote
        else replace(piece, start=-1, end=-1)
        for piece in route.evidence
    )
    return replace(route, evidence=evidence)


def _decision_key(route: Route) -> tuple[str, str, str]:
    return route.label, route.rule, route.target


def decided_path(
    protocol: Protocol,
    topic: Topic,
    conversation: Conversation,
    answers: Mapping[int, Answer] | None = None,
    *,
    bound: bool = True,
) -> DecidedPath:
    """Return what the protocol decides about a conversation, with `answers` in place of the recorded answers of these
    turns. If the user was not `bound` to a protocol, as people are not, any words and any end match."""
    answered = [turn for turn in conversation.turns if turn.reply is not None]
    exchanges = tuple(Exchange(turn.said, _answer_heard(turn, answers or {})) for turn in answered)
    any_words = not bound or conversation.user in REWORDING
    actions = retrace(protocol, topic, exchanges, greeting=conversation.greeting, reworded=any_words)
    routes: dict[int, Route] = {}
    if conversation.turns and not (any_words or _says(actions[0], conversation.turns[0])):
        return DecidedPath(routes, because=describe_parting(0, actions[0], conversation.turns[0]))
    for turn, action in zip(answered, actions[1:], strict=False):
        assert action.route is not None
        routes[turn.number] = action.route
        following = next((one for one in conversation.turns if one.number == turn.number + 1), None)
        outcome = conversation.outcome
        if following is not None:
            if isinstance(action, Stop):
                because = describe_parting(turn.number, action, following)
                return DecidedPath(routes, turn.number, because, cut=Outcome(action.outcome, action.reason))
            if not (any_words or _says(action, following)):
                return DecidedPath(routes, turn.number, describe_parting(turn.number, action, following))
        elif isinstance(action, Stop):
            end = Outcome(action.outcome, action.reason)
            own = outcome is not None and not bound and not is_bad_ending(end)
            return DecidedPath(routes, outcome=outcome if own else end)
        elif outcome is not None and (not bound or (isinstance(action, Ask) and outcome.kind == "user-stopped")):
            return DecidedPath(routes, outcome=outcome)  # leaving is this user's own decision, as its words are
        elif outcome is not None and outcome.kind not in (INVALID, "system-ended"):
            return DecidedPath(routes, turn.number, describe_parting(turn.number, action, None))
    return DecidedPath(routes)


def _says(action: Say | Ask | Stop, turn: Turn) -> bool:
    """Return True if the recorded turn is what the action says. A simulated user may have said anything."""
    if isinstance(action, Ask):
        return turn.user == action.user
    return isinstance(action, Say) and action.text == turn.said


def _answer_heard(turn: Turn, answers: Mapping[int, Answer]) -> Answer:
    assert turn.reply is not None
    return answers.get(turn.number, turn.reply.answer)


def describe_parting(after: int, action: Say | Ask | Stop, following: Turn | None) -> str:
    """Say what the protocol would do after the answer to turn `after`, and which turn was recorded instead."""
    match action:
        case Say():
            would = f"would say {action.text[:120]!r}"
        case Ask():
            would = f"would let user {action.user!r} speak"
        case Stop():
            would = f"would stop ({action.outcome})"
    then = f"the user said {following.said[:120]!r}" if following is not None else "the conversation ended"
    where = f"after the answer to turn {after}" if after else "at the opening"
    return f"{where} the protocol {would}; in the recording, {then}"
