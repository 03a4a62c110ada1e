"""Contradictions between the lines of an attempt and their file, the other lines, and the plan of the run.

A reader accepts every recording of format 1, and some recordings contain less than Harvest writes: an import may have
neither routes nor answers. A conversation that Harvest played is always written in the same way, so a missing or
changed line often contradicts other lines. A trial is identified by the hash of its protocol, topic, system and number.
Every answer is routed by the state that asked for it, and the route leads to the next state that asks, or to the end. A
valid attempt has an answer to every turn, and only failures of the simulated user. An invalid attempt has a failure.
"""

from collections.abc import Iterator, Mapping

from recordings.conversations.conversation import Outcome, Turn
from recordings.conversations.endings import is_cut_short
from recordings.events.attempts import Attempt
from recordings.events.events import Asked, Event, Routed, TrialEnded, TrialStarted
from recordings.files.json_text import Json
from recordings.log.header import Header
from topics.identity import content_hash


class Contradictions:
    """Finds contradictions in the run that `header` describes. `played` is True if Harvest recorded all conversations
    live, without any import."""

    def __init__(self, header: Header) -> None:
        self._hashes = header.hashes
        imported, self._reread = False, False
        for source in _sources(header):
            self._reread |= source is not None
            # A reread run was played, or imported, before.
            while isinstance(source, Mapping) and source.get("format") == "reread":
                source = source.get("source")
            imported |= source is not None
        self.played = not imported
        self._by_protocol = self.played and header.protocol is not None

    def contradiction_at_start(self, started: TrialStarted) -> str:
        """Return a sentence on the contradiction in the first event of an attempt, or "" if there is none."""
        if not self.played:
            return ""
        key = started.key
        planned = {
            kind: self._planned_names(kind, name) for kind, name in (("system", key.system), ("topic", key.topic))
        }
        recorded = started.hashes or {"protocol": self._hashes.get("protocol", ""), **planned}
        for kind, hashed in planned.items():
            if recorded.get(kind, "") != hashed:
                return f"{kind} {getattr(key, kind)!r} is not the one that run.json defines under that name"
        content = {
            "protocol": recorded.get("protocol", ""),
            "system": recorded.get("system", ""),
            "topic": recorded.get("topic") or {"id": key.topic},
            "trial": key.trial,
        }
        if content_hash("trial", content) != started.trial_id:
            return f"trial {key.trial} of {key.system!r} on {key.topic!r} is not the trial {started.trial_id}"
        return ""

    def contradiction_within(self, attempt: Attempt, event: Event) -> str:
        """Return a sentence on the contradiction between `attempt` and its next event, or "" if they agree."""
        return next(self._within(attempt, event), "") if self.played else ""

    def _within(self, attempt: Attempt, event: Event) -> Iterator[str]:
        last = attempt.last_turn
        match event:
            case Asked() if last is not None:
                if last.reply is not None and last.reply.ended:
                    yield f"turn {event.turn} is asked after the system ended the conversation"
                yield from self._check_route(last, f"turn {event.turn} is asked")
                yield from self._check_target(last, event.state, f"state {event.state!r} asks next")
            case Routed() if last is not None:
                if self._by_protocol and event.route.state != last.state:
                    yield f"state {event.route.state!r} routes turn {last.number}, which state {last.state!r} asked"
                yield from _check_quote(last, event)
            case TrialEnded():
                yield from self._check_end(attempt, last, event.outcome)

    def _check_end(self, attempt: Attempt, last: Turn | None, outcome: Outcome) -> Iterator[str]:
        how = f"the attempt ends as {outcome.kind!r}"
        if not outcome.valid:
            if not attempt.failures and not self._reread:
                yield f"{how}, but no failure is recorded"
            return
        cut_short = is_cut_short(outcome) and bool(attempt.failures)
        if attempt.failures and not cut_short:
            yield f"{how} after a failure"
        if last is None:
            if self._by_protocol and outcome.kind != "user-stopped":
                yield f"{how}, but no turn was asked"
            return
        if last.reply is None:
            yield f"{how}, but turn {last.number} has no answer"
        elif last.reply.ended != (outcome.kind == "system-ended"):
            said = "ended" if last.reply.ended else "did not end"
            yield f"{how}, but the system {said} the conversation with turn {last.number}"
        if not cut_short:  # the rules that route an answer may have failed
            yield from self._check_route(last, how)
        if outcome.kind != "system-ended":
            yield from self._check_target(last, f"stop:{outcome.kind}", how)

    def _check_route(self, last: Turn, then: str) -> Iterator[str]:
        if self._by_protocol and last.route is None:
            yield f"{then}, but the answer to turn {last.number} has no route"

    def _check_target(self, last: Turn, to: str, then: str) -> Iterator[str]:
        """Check that the attempt continues in the state `to`, the target of its last route, unless the user leaves."""
        if not self._by_protocol or self._reread or last.route is None:
            return
        target = last.route.target
        left = to == "stop:user-stopped" and not target.startswith("stop:")
        if target != to and not left:
            yield f"{then}, but the route of turn {last.number} leads to {target!r}"

    def _planned_names(self, kind: str, name: str) -> str:
        return str(self._hashes.get(f"{kind}s", {}).get(name, ""))


def _check_quote(last: Turn, event: Routed) -> Iterator[str]:
    """Report quotes that are nowhere in the answer. A quote at another position is accepted: two separately written
    halves of a surrogate pair are read as one character, which shifts later positions."""
    if last.reply is None:
        return
    text = last.reply.answer.text
    for piece in event.route.evidence:
        if piece.start >= 0 and text[piece.start : piece.end] != piece.quote and piece.quote not in text:
            yield f"the route of turn {last.number} quotes {piece.quote[:60]!r}, which is not in the answer"


def _sources(header: Header) -> Iterator[Json]:
    yield header.source
    for one in (*header.parts, *header.changes):
        if isinstance(one, Mapping):
            yield one.get("source")
