"""`harvest pages read-again`: read stored pages and replies with today's code, and show the differences."""

import difflib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from harvest.audits.audit import load_audit
from harvest.cli.parameters import PathArgument
from harvest.drivers.rereading import read_reply, reply_exhibit, separate_thoughts
from harvest.pages.chats.reread import FoundAnswer, RereadAnswer, read_again
from harvest.studies.relabel.rerouting import Rerouted, refit_evidence, reroute
from harvest.systems.driver import DriverError
from harvest.terminal import print_message, printable
from protocols.answer import PARTS, Answer
from recordings.conversations.answer_parts import parts_row
from recordings.conversations.conversation import INVALID, Conversation, Outcome
from recordings.events.attempts import AttemptId
from recordings.events.redacted_events import redacted_value
from recordings.files.evidence import read_exhibit
from recordings.log.run_folder import Run, read
from recordings.merging.revision import Revision, check_target, write_revision
from recordings.secrets.redaction import Redactor, count_marks
from simulators.wrappers.wrapped import REWORDING
from topics.counting import pluralize
from topics.errors import InputError, Place

_MOST_DIFF_LINES = 24  # printed lines of a text's diff; --json has both texts
_LONGEST_LINE = 300  # characters of a difference


@dataclass(frozen=True, slots=True)
class _Revised:
    """A conversation with an answer that today's code reads differently or considers a fault."""

    conversation: Conversation
    answers: tuple[RereadAnswer, ...]
    path: Rerouted
    refused: RereadAnswer | None

    @property
    def outcome(self) -> Outcome | None:
        if self.refused is not None and self.conversation.valid:
            said = f"turn {self.refused.turn.number} was no answer: {self.refused.excerpt}"
            return Outcome(INVALID, self.refused.refused, said)
        return self.path.outcome

    def label(self, turn: int) -> tuple[str, str]:
        was = self.conversation.label(turn)
        now = self.path.routes.get(turn)
        return was, now.label if now is not None else was

    @property
    def changed_labels(self) -> list[int]:
        return [turn for turn in self.path.routes if len(set(self.label(turn))) > 1]


@click.command()
@click.argument("run", type=PathArgument())
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option("--out", type=PathArgument(), metavar="RUN2", help="Write a new run with the new readings.")
@click.option(
    "--options-of", "audit", metavar="AUDIT", help="Read replies of APIs and programs with the options there."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(run: Path, system: str | None, out: Path | None, audit: str | None, as_json: bool) -> None:
    """Read stored pages and replies again, and show what changed.

    No system is contacted, and RUN is not changed. Every answer is read again from its stored page or reply with
    today's code, and the protocol of the run decides its label again. `--options-of` helps if an option such as `links`
    was wrong when the run was played. If other labels would have led to other user turns, the conversation is marked as
    invalid in RUN2; `harvest run` with the same audit and `--out RUN2` plays it again.
    """
    recorded = read(run, keep_rows=True)
    if system is not None and system not in recorded.header.systems:
        raise InputError(f"the run has no system {system!r}", allowed=", ".join(recorded.header.systems))
    if out is not None:
        check_target(recorded, out)
    options = _options_now(audit, recorded, system) if audit is not None else {}
    answers, found = read_again(recorded, system=system)
    answers = [_reread_reply(recorded, answer, options) for answer in answers]
    revised = list(_revised_conversations(recorded, answers))
    told = _count_changes(answers, found, revised)
    if options:
        told["options"] = {name: {key: now.get(key) for key in changed} for name, (now, changed) in options.items()}
    damage: Sequence[str] = recorded.damage
    if out is not None:
        revisions = {
            (one.conversation.trial_id, one.conversation.attempt): Revision(
                {answer.turn.number: answer.now for answer in one.answers if answer.changed and answer.now is not None},
                one.path.routes,
                one.outcome,
            )
            for one in revised
        }
        damage = write_revision(recorded, out, revisions, told={"system": system, **told})
    if as_json:
        click.echo(json.dumps(_reread_document(told, answers, found, revised, out), ensure_ascii=False))
    else:
        for one in revised:
            click.echo("\n".join(_difference_lines(one)) + "\n")
        click.echo("\n".join(_summary_lines(answers, found, revised, told)))
    for sentence in damage:
        print_message(printable(f"damage: {sentence}", line=True))
    if out is not None:
        click.echo(f"{pluralize(told['changed'], 'answer')} mended in {out}; {run} is as it was", err=True)


def _options_now(audit: str, run: Run, system: str | None) -> dict[str, tuple[Mapping[str, Any], list[str]]]:
    """Return, by system, the options in `audit`, and the names of those that differ from the run's. Raises InputError
    if no system of the run has other options there."""
    found: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for one in load_audit(audit, imports=False).systems:
        recorded = run.header.systems.get(one.name)
        if not isinstance(recorded, dict) or recorded.get("driver") != one.driver or system not in (None, one.name):
            continue
        was: Any = recorded.get("options") or {}
        now = json.loads(json.dumps(one.definition()["options"]))
        changed = [key for key in dict.fromkeys((*now, *was)) if now.get(key) != was.get(key)]
        if changed:
            found[one.name] = (now, changed)
    if not found:
        raise InputError(
            "no system of the run has other options there",
            place=Place(audit),
            advice="a system must have the same name and driver as in the run",
        )
    return found


def _reread_reply(
    run: Run, answer: RereadAnswer, others: Mapping[str, tuple[Mapping[str, Any], list[str]]]
) -> RereadAnswer:
    """Read an answer again from the stored reply of an API or a program, or from the recorded text if the reply is
    plain text. `others` has options that differ from the recorded ones. An answer is returned unchanged if it was read
    from a page, or if its driver stores neither replies nor pages."""
    definition, reply = run.header.systems.get(answer.conversation.key.system), answer.turn.reply
    if answer.source or reply is None or not isinstance(definition, dict):
        return answer
    driver, options = str(definition.get("driver")), definition.get("options") or {}
    if answer.conversation.key.system in others:
        options = dict(others[answer.conversation.key.system][0])
    source = reply_exhibit(driver, reply.evidence)
    if not source or not isinstance(options, dict):
        return answer
    try:
        if source == "text":
            now = separate_thoughts(answer.was) if options.get("thoughts_apart", True) else answer.was
        else:
            head = read_exhibit(run.path, reply.evidence["headers"]) if "headers" in reply.evidence else b""
            now = read_reply(driver, options, read_exhibit(run.path, reply.evidence[source]), head)
    except (DriverError, ValueError, KeyError, TypeError) as fault:
        return replace(answer, source=source, trouble=f"{reply.evidence[source]} cannot be read: {fault}")
    kept: Answer = redacted_value(now, Redactor())
    if count_marks(answer.was.text) > count_marks(kept.text + kept.thoughts):
        return replace(answer, source=source, trouble="left as it is: it would bring back redacted text")
    return replace(answer, now=kept, source=source)


def _revised_conversations(run: Run, answers: Sequence[RereadAnswer]) -> Iterator[_Revised]:
    by_attempt: defaultdict[AttemptId, list[RereadAnswer]] = defaultdict(list)
    for answer in answers:
        if answer.changed or answer.refused:
            by_attempt[answer.conversation.trial_id, answer.conversation.attempt].append(answer)
    if not by_attempt:
        return
    protocol = run.header.played_protocol()
    topics = run.header.topic_set() if protocol is not None else None
    for several in by_attempt.values():
        conversation = several[0].conversation
        now = {one.turn.number: one.now for one in several if one.changed and one.now is not None}
        if protocol is not None and topics is not None and conversation.user in ("scripted", *REWORDING):
            path = reroute(protocol, topics[conversation.key.topic], conversation, now)
        else:
            kept = {turn.number: turn.route for turn in conversation.turns}
            path = Rerouted(
                {
                    turn: refit_evidence(route, answer)
                    for turn, answer in now.items()
                    if (route := kept[turn]) is not None
                }
            )
        refused = next((one for one in several if one.refused), None)
        yield _Revised(conversation, tuple(several), path, refused)


def _count_changes(
    answers: Sequence[RereadAnswer], found: Sequence[FoundAnswer], revised: Sequence[_Revised]
) -> dict[str, Any]:
    read_now = [one for one in answers if one.now is not None]
    parts = Counter(
        name
        for one in read_now
        for name in ("text", "links", *PARTS)
        if getattr(one.now, name) != getattr(one.was, name)
    )
    return {
        "read": len(read_now),
        "changed": sum(one.changed for one in read_now),
        "unreadable": sum(bool(one.trouble) for one in answers),
        "without_evidence": sum(not one.source for one in answers),
        "labels_changed": sum(len(one.changed_labels) for one in revised),
        "parted": sum(bool(one.path.parted) for one in revised),
        "refused": sum(one.refused is not None for one in revised),
        "found_in_failed_turns": len(found),
        "parts": dict(parts),
    }


def _turn_name(conversation: Conversation, turn: int) -> str:
    key = conversation.key
    attempt = f", attempt {conversation.attempt}" if conversation.attempt > 1 else ""
    return f"{key.system} {key.topic} trial {key.trial}{attempt}, turn {turn}"


def _difference_lines(one: _Revised) -> Iterator[str]:
    told: set[int] = set()
    for answer in one.answers:
        number = answer.turn.number
        told.add(number)
        assert answer.now is not None
        yield printable(
            f"{_turn_name(one.conversation, number)}: {_change_words(answer)}{_label_change(one, number)}", line=True
        )
        rows = list(difflib.unified_diff(answer.was.text.splitlines(), answer.now.text.splitlines(), lineterm="", n=0))[
            2:
        ]
        rows = [row for row in rows if not row.startswith("@@")]
        for row in rows[:_MOST_DIFF_LINES]:
            cut = row if len(row) <= _LONGEST_LINE else f"{row[:_LONGEST_LINE]}… ({len(row)} characters)"
            yield printable(f"  {cut[0]} {cut[1:]}", line=True)
        if len(rows) > _MOST_DIFF_LINES:
            yield f"  … and {pluralize(len(rows) - _MOST_DIFF_LINES, 'more line')}; --json has both texts"
        was, now = ([link.href for link in links] for links in (answer.was.links, answer.now.links))
        for sign, first, second in (("-", was, now), ("+", now, was)):
            for href, count in (Counter(first) - Counter(second)).items():
                times = f" ({count} times)" if count > 1 else ""
                yield printable(f"  link {sign} {href}{times}", line=True)
        if answer.refused:
            yield printable(f"  this is considered a fault today ({answer.refused}): {answer.excerpt}", line=True)
    for turn in one.changed_labels:
        if turn not in told:
            yield printable(f"{_turn_name(one.conversation, turn)}: the same text{_label_change(one, turn)}", line=True)
    for turn in one.path.other_rules:
        yield f"  turn {turn}: today's rules decide differently on the recorded text too, see harvest relabel"
    if one.path.parted:
        yield printable(f"  takes another path: {one.path.because}", line=True)
    if one.outcome is not None and one.conversation.outcome is not None:
        yield f"  outcome: was {one.conversation.outcome.kind}, now {one.outcome.kind} ({one.outcome.reason})"


def _change_words(answer: RereadAnswer) -> str:
    assert answer.now is not None
    parts = []
    if answer.now.text != answer.was.text:
        parts.append(f"the text changed ({len(answer.was.text)} characters, now {len(answer.now.text)})")
    if answer.now.links != answer.was.links:
        parts.append(f"the links changed ({len(answer.was.links)}, now {len(answer.now.links)})")
    for name in PARTS:
        if getattr(answer.now, name) != getattr(answer.was, name):
            parts.append(f"{name} changed")
    return "; ".join(parts) or "reads the same"


def _label_change(one: _Revised, turn: int) -> str:
    was, now = one.label(turn)
    return f"; the label was {was}, now {now}" if was != now else ""


def _summary_lines(
    answers: Sequence[RereadAnswer], found: Sequence[FoundAnswer], revised: Sequence[_Revised], told: Mapping[str, Any]
) -> Iterator[str]:
    for one in answers:
        if one.trouble:
            yield printable(f"{_turn_name(one.conversation, one.turn.number)}: {one.trouble}", line=True)
    for failed in found:
        what = f"failed then ({failed.reason}); today {len(failed.text)} characters are read on its page"
        yield printable(f"{_turn_name(failed.conversation, failed.turn)}: {what}", line=True)
    without = Counter(one.conversation.key.system for one in answers if not one.source)
    for system, count in without.items():
        yield printable(f"{system}: no page was stored for {pluralize(count, 'answer')}", line=True)
    for system, options in told.get("options", {}).items():
        yield printable(f"{system}: read with other options than recorded: {', '.join(options)}", line=True)
    same = told["read"] - told["changed"]
    yield f"{pluralize(told['read'], 'answer')} read again: {told['changed']} changed, {same} the same"
    if told["unreadable"]:
        yield f"could not be read again and are as recorded: {pluralize(told['unreadable'], 'answer')}"
    if told["labels_changed"]:
        yield f"{pluralize(told['labels_changed'], 'label')} changed"
    away = sum(one.outcome is not None and one.outcome.kind == INVALID for one in revised)
    if away:
        yield f"to be played again, because they no longer follow the protocol: {pluralize(away, 'conversation')}"


def _reread_document(
    told: Mapping[str, Any],
    answers: Sequence[RereadAnswer],
    found: Sequence[FoundAnswer],
    revised: Sequence[_Revised],
    out: Path | None,
) -> dict[str, object]:
    return {
        "format": "harvest-reread/1",
        **told,
        "out": str(out) if out is not None else None,
        "turns": [
            {
                **_turn_key(one.conversation, answer.turn.number),
                "source": answer.source,
                "was": _encode_answer(answer, now=False),
                "now": _encode_answer(answer, now=True),
                "label_was": one.label(answer.turn.number)[0],
                "label_now": one.label(answer.turn.number)[1],
                "refused": answer.refused or None,
            }
            for one in revised
            for answer in one.answers
        ],
        "conversations": [
            {
                **_turn_key(one.conversation, one.path.parted or None),
                "labels": {str(turn): list(one.label(turn)) for turn in one.changed_labels},
                "because": one.path.because or None,
                "outcome": None if one.outcome is None else {"kind": one.outcome.kind, "reason": one.outcome.reason},
                "decided_by_other_rules": list(one.path.other_rules),
            }
            for one in revised
        ],
        "troubles": [
            {**_turn_key(one.conversation, one.turn.number), "trouble": one.trouble} for one in answers if one.trouble
        ],
        "found": [{**_turn_key(one.conversation, one.turn), "reason": one.reason, "text": one.text} for one in found],
    }


def _turn_key(conversation: Conversation, turn: int | None) -> dict[str, object]:
    key = conversation.key
    return {
        "system": key.system,
        "topic": key.topic,
        "trial": key.trial,
        "attempt": conversation.attempt,
        "turn": turn,
    }


def _encode_answer(answer: RereadAnswer, *, now: bool) -> dict[str, object]:
    chosen = answer.now if now and answer.now is not None else answer.was
    links = [{"text": link.text, "href": link.href} for link in chosen.links]
    return {"text": chosen.text, "links": links, **parts_row(chosen)}
