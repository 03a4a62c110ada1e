"""Explanations of decisions: which rules of a state an answer met, which it did not meet, and why, in words."""

from collections.abc import Sequence

from protocols.answer import Exchange
from protocols.protocol import Protocol
from protocols.route import Route
from protocols.route_words import RuleFinding, evidence_words
from protocols.rules.registry import All, Any, Not, Reference
from protocols.rules.rule import Rule, Sight
from topics.topic import Topic


def explain_route(
    protocol: Protocol, topic: Topic, exchanges: Sequence[Exchange], labels: Sequence[str], route: Route
) -> tuple[RuleFinding, ...]:
    """Return how the rules that were tried for `route` judged the last of `exchanges`, in the order of the edges.

    `labels` are those of the earlier answers. Returns () if the rules of today would decide otherwise, or if the
    protocol has no such state: then only the recorded evidence explains the decision.
    """
    state = protocol.states.get(route.state)
    if state is None or len(exchanges) != route.turn or len(labels) != route.turn - 1:
        return ()
    sight = Sight(topic, tuple(exchanges), tuple(labels))
    found: list[RuleFinding] = []
    for edge in state.edges:
        if not edge.rule:
            return tuple(found) if route.rule == "otherwise" else ()
        met, why = _judge(protocol.rules[edge.rule], sight)
        found.append(RuleFinding(edge.rule, met, why))
        if met:
            return tuple(found) if route.rule == edge.rule else ()
    return tuple(found) if route.rule == "no-match" else ()


def _judge(rule: Rule, sight: Sight) -> tuple[bool, str]:
    """Return whether the rule holds, and why. Each part is judged once."""
    match rule:
        case Reference():
            return _judge(rule.rule, sight)
        case Not(rule=Not(rule=again)):
            return _judge(again, sight)
        case Not():
            holds, why = _judge(rule.rule, sight)
            return not holds, f"{'excluded by' if holds else 'nothing excludes it:'} {_name(rule.rule)}{why}"
        case Any() | All():
            decides = isinstance(rule, Any)
            words: dict[str, None] = {}
            for part in rule.rules:
                holds, why = _judge(part, sight)
                why = f"{_name(part)}{why}"
                if holds == decides:
                    return holds, why
                words[why] = None
            return not decides, "; ".join(words)
    verdict = rule.judge(sight)
    # What is missing explains a rule that does not hold, and comes after what was found.
    pieces = verdict.evidence if verdict.holds else sorted(verdict.evidence, key=lambda piece: piece.start >= 0)
    return verdict.holds, evidence_words(pieces)


def _name(part: Rule) -> str:
    """Return the name of a part of `any` or `all`, or its kind, with a colon; "" for a part made of others."""
    if isinstance(part, Reference):
        return f"{part.name}: "
    return "" if isinstance(part, (Any, All, Not)) else f"{part.version.partition('/')[0]}: "
