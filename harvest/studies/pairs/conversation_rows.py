"""Short descriptions of a recorded conversation, and its row in a listing."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from protocols.answer import Answer, Offer
from protocols.route import Choice, Route
from protocols.route_words import RuleFinding, decision_words, evidence_words, target_words
from recordings.conversations.answer_parts import choice_row, offer_row, parts_row
from recordings.conversations.conversation import Conversation, Turn
from recordings.conversations.endings import shown_end
from recordings.log.run_folder import Run
from topics.decimals import percent
from topics.languages import language_of
from topics.sent_files import file_row

if TYPE_CHECKING:
    from harvest.studies.validity.worded_turns import WordedTurn


def label_line(conversation: Conversation) -> str:
    """Return the labels of a conversation's answers, such as `x o`, with `?` for an answer without a label."""
    return " ".join(turn.label or "?" for turn in conversation.turns if turn.reply is not None)


def outcome_words(conversation: Conversation) -> str:
    """Return the outcome of a conversation, with its reason if it needs one, such as `invalid (timeout)`."""
    outcome = conversation.outcome
    if outcome is None:
        return "interrupted"
    told = outcome.kind in ("invalid", "user-stopped") and outcome.reason  # imports may have no reason
    return shown_end(f"{outcome.kind} ({outcome.reason})") if told else outcome.kind


def choice_line(choice: Choice, done: str) -> str:
    """Describe a user's decision. `done` is the chosen act, or the reason for leaving."""
    found = []
    if choice.took:
        found.append(f"took the answer for {choice.took}")
    if choice.probability is not None:
        found.append(f"P({done}) = {_share_text(choice.probability)}")
    if choice.leaving:
        reasons = ", ".join(f"{reason} {_share_text(share)}" for reason, share in choice.leaving.items())
        found.append(f"P(leaving) = {_share_text(choice.hazard)} ({reasons})")
    if choice.coverage is not None:
        found.append(f"need met {_share_text(choice.coverage)}")
    if choice.noise:
        found.append("changed " + ", ".join(f"{kind} {did} of {could}" for kind, (could, did) in choice.noise.items()))
    if choice.refused:
        found.append("samples refused: " + ", ".join(f"{reason} {n}" for reason, n in choice.refused.items()))
    if choice.meant:
        found.append(f"meant: {choice.meant}")
    return "; ".join(found)


def fault_words(turn: "WordedTurn") -> str:
    """Describe the fault of a user turn worded by a model, and the share of the intended words in the turn."""
    from simulators.llm.faults import FAULTS  # imported late: only some runs have such turns

    kept = "" if turn.kept != turn.kept else f"; {percent(turn.kept)} of the words that were meant are kept"
    return f"{turn.fault} ({FAULTS[turn.fault]}{kept})"


def _share_text(share: float) -> str:
    return f"{share:.3g}"


def part_lines(answer: Answer) -> list[str]:
    """Return a line for each source, tool call, offer, attachment or other part attached to an answer."""
    lines = []
    for source in answer.sources:
        named = f"{source.title}: {source.href}" if source.title and source.href else source.title or source.href
        place = f" for {answer.text[source.start : source.end]!r}" if source.start >= 0 else ""
        lines.append(f"source ({source.place}){place}: {named}")
    if answer.thoughts:
        lines.append(f"thoughts: {answer.thoughts}")
    lines += [f"tool call: {call.name} {call.arguments}".rstrip() for call in answer.calls]
    for offer in answer.offers:
        kind = f" ({offer.kind})" if offer.kind != "reply" else ""
        lines.append(f"offer{kind}: {offer_words(offer)}")
    for file in answer.attachments:
        size = f"{file.size} bytes" if file.size is not None else ""
        lines.append(f"attachment: {' '.join(filter(None, (file.name, file.type, size)))}")
    if answer.refused:
        lines.append("the system marked this as a refusal")
    if answer.refusal:
        lines.append(f"refusal: {answer.refusal}")
    return lines


def offer_words(offer: Offer) -> str:
    return offer.title + (f" -> {offer.value}" if offer.value else "")


def rule_findings(run: Run, conversation: Conversation) -> dict[int, Sequence[RuleFinding]]:
    """Return how the rules of the run's protocol judged each answer, by turn, if today's rules decide as recorded."""
    if all(turn.route is None for turn in conversation.turns):
        return {}
    from protocols.explanation import explain_route  # late: it brings the rules, which a list of trials does not need

    protocol, topics = run.header.played_protocol(), run.header.topic_set()
    known = {topic.id: topic for topic in topics.topics} if topics else {}
    if protocol is None or conversation.key.topic not in known:
        return {}
    found: dict[int, Sequence[RuleFinding]] = {}
    for turn in conversation.turns:
        if turn.route is not None:
            labels = [earlier.label or "" for earlier in conversation.turns[: turn.number - 1]]
            found[turn.number] = explain_route(
                protocol, known[conversation.key.topic], conversation.exchanges[: turn.number], labels, turn.route
            )
    return found


def route_lines(route: Route, findings: Sequence[RuleFinding] = ()) -> list[str]:
    """Describe a decision: the label, what came next, and how each rule that was tried judged the answer. Without
    `findings`, the recorded evidence takes their place."""
    following = f"{route.label}, then {target_words(route)}"
    if not findings or all(found.name != route.rule for found in findings):
        following += f": {decision_words(route)}"
    told = [
        f"{found.name} is {'met' if found.met else 'not met'}: {found.why}".removesuffix(": ") for found in findings
    ]
    if not findings and (recorded := evidence_words(route.evidence)):
        told = [recorded]
    return [following, *(f"  {line}" for line in told)]


def conversation_row(conversation: Conversation, *, whole: bool) -> dict[str, Any]:
    """Return the row of a conversation in a `harvest-listing/1` file. With `whole`, the row includes every turn."""
    row: dict[str, Any] = {
        **asdict(conversation.key),
        "id": conversation.trial_id,
        "attempt": conversation.attempt,
        "session": conversation.session,
        "place": conversation.place,
        "member": conversation.member,
        "outcome": conversation.outcome.kind if conversation.outcome else None,
        "reason": conversation.outcome.reason if conversation.outcome else "",
        "labels": [turn.label for turn in conversation.turns if turn.reply is not None],
        "started_at": conversation.started_at,
        "ended_at": conversation.ended_at,
    }
    if whole:
        row["turns"] = [_turn_row(turn) for turn in conversation.turns]
        ended = conversation.outcome.choice if conversation.outcome else None
        row["choice"] = choice_row(ended) if ended else None
    return row


def _turn_row(turn: Turn) -> dict[str, Any]:
    reply = turn.reply
    return {
        "turn": turn.number,
        "state": turn.state,
        "user": turn.user,
        "act": turn.act,
        "worded": turn.worded,
        "choice": choice_row(turn.choice) if turn.choice else None,
        "session": turn.session,
        "said": turn.said,
        **({"pressed": offer_row(turn.pressed)} if turn.pressed else {}),
        **({"attached": [file_row(one) for one in turn.attached]} if turn.attached else {}),
        "sent_as": reply.sent_as if reply else "",
        "text": reply.answer.text if reply else None,
        "links": [asdict(link) for link in reply.answer.links] if reply else [],
        **(parts_row(reply.answer) if reply else {}),
        "seconds": reply.seconds if reply else None,
        "finish": reply.finish if reply else "",
        "ending": reply.ending if reply else "",
        "language": language_of(reply.answer.text) if reply else "",
        "notes": list(reply.notes) if reply else [],
        "model": reply.model if reply else "",
        "evidence": dict(reply.evidence) if reply else {},
        "route": asdict(turn.route) if turn.route else None,
    }
