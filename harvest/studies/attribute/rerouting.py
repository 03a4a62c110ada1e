"""Repeat the decisions of a recorded conversation after its answers were read again.

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
class _Path:
    """The protocol's repeated decisions by turn. `parted` and `because` are as in `Rerouted`. `outcome` is None if
    the conversation would continue."""

    routes: Mapping[int, Route]
    parted: int = 0
    because: str = ""
    outcome: Outcome | None = None


def reroute(protocol: Protocol, topic: Topic, conversation: Conversation, answers: Mapping[int, Answer]) -> Rerouted:
    """Repeat a conversation's decisions with `answers`, by turn, in place of the recorded answers."""
    before = _decided_path(protocol, topic, conversation, {})
    after = _decided_path(protocol, topic, conversation, answers)
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
        # `harvest replay-routes` reports what only the rules decide differently.
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


def _decided_path(protocol: Protocol, topic: Topic, conversation: Conversation, answers: Mapping[int, Answer]) -> _Path:
    answered = [turn for turn in conversation.turns if turn.reply is not None]
    exchanges = tuple(Exchange(turn.said, _answer_heard(turn, answers)) for turn in answered)
    reworded = conversation.user in REWORDING
    actions = retrace(protocol, topic, exchanges, reworded=reworded)
    routes: dict[int, Route] = {}
    for turn, action in zip(answered, actions[1:], strict=False):
        assert action.route is not None
        routes[turn.number] = action.route
        following = next((one for one in conversation.turns if one.number == turn.number + 1), None)
        outcome = conversation.outcome
        if following is not None:
            if isinstance(action, Stop) or (isinstance(action, Say) and action.text != following.said and not reworded):
                return _Path(routes, turn.number, _describe_parting(turn, action, f"the user said {following.said!r}"))
        elif isinstance(action, Stop):
            return _Path(routes, outcome=Outcome(action.outcome, action.reason))
        elif isinstance(action, Ask) and outcome is not None and outcome.kind == "user-stopped":
            return _Path(routes, outcome=outcome)  # leaving is this user's own decision, as its words are
        elif outcome is not None and outcome.kind not in (INVALID, "system-ended"):
            return _Path(routes, turn.number, _describe_parting(turn, action, "the conversation ended"))
    return _Path(routes)


def _answer_heard(turn: Turn, answers: Mapping[int, Answer]) -> Answer:
    assert turn.reply is not None
    return answers.get(turn.number, turn.reply.answer)


def _describe_parting(turn: Turn, action: Say | Ask | Stop, then: str) -> str:
    match action:
        case Say():
            would = f"would say {action.text[:120]!r}"
        case Ask():
            would = f"would let user {action.user!r} speak"
        case Stop():
            would = f"would stop ({action.outcome})"
    return f"after the answer to turn {turn.number} the protocol {would}; in the recording, {then[:140]}"
