"""Reading the kept pages of a run again with today's code, without contacting any system. An answer depends on the
page, on the user's text, and on the habits learnt from earlier turns of the session. All three are in the
recording: the page is among the evidence, the text is in the events, and the habits are learnt again from the pages
of the earlier turns. If such a page was not kept, the habits come from the turn's `watch` exhibit."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from harvest.pages.finding.blockers import find_refusal
from harvest.pages.reading.page import Page, parse_page
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn import Habits, ReadTurn, learn_habits, read_bubbles, read_turn
from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, SystemTurn, Turn
from recordings.events.attempts import Attempt
from recordings.events.redacted_events import redacted_value
from recordings.files.evidence import read_exhibit
from recordings.log.run_folder import Run
from recordings.secrets.redaction import Redactor, count_marks


@dataclass(frozen=True, slots=True)
class RereadAnswer:
    """A recorded answer and the reading of its page by today's code.

    - `now`: the new reading, or None if the page could not be read.
    - `source`: the exhibit that was read, `page` or `reply`, or "" if neither was kept.
    - `trouble`: a sentence that says what is wrong with an exhibit, or "".
    - `refused`, `excerpt`: the failure that today's code sees instead of an answer, and its text; both "" without a
      failure.
    """

    conversation: Conversation
    turn: Turn
    was: Answer
    now: Answer | None = None
    source: str = ""
    trouble: str = ""
    refused: str = ""
    excerpt: str = ""

    @property
    def changed(self) -> bool:
        """True if text, links or other parts of the answer differ now."""
        return self.now is not None and self.now != self.was


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """A turn that was recorded as failed, although today's code reads an answer on its kept page."""

    conversation: Conversation
    turn: int
    reason: str
    text: str


def read_again(run: Run, *, system: str | None = None) -> tuple[list[RereadAnswer], list[FoundAnswer]]:
    """Read every answer of the run (or of one system) again, in attempt order, and look for answers in failed turns. A
    damaged exhibit does not stop the reading, but its answer gets a `trouble`."""
    chosen = [attempt for attempt in run.attempts if system in (None, attempt.started.key.system)]
    # The attempts that shared one page; an attempt without a session has a page of its own.
    sessions: dict[tuple[str, ...], list[Attempt]] = {}
    for attempt in chosen:
        started = attempt.started
        name = started.session or f"{started.trial_id}/{started.attempt}"
        sessions.setdefault((started.worker or attempt.worker, started.key.system, name), []).append(attempt)
    answers: list[RereadAnswer] = []
    found: list[FoundAnswer] = []
    for session in sessions.values():
        known = _SessionHabits()
        for attempt in sorted(session, key=lambda attempt: attempt.started.place):
            conversation = attempt.conversation()
            for turn in conversation.turns:
                if turn.reply is not None:
                    answers.append(_reread_answer(run.path, conversation, turn, turn.reply, known))
            found += _reread_failures(run.path, attempt, conversation, known)
    order = {(one.started.trial_id, one.started.attempt): place for place, one in enumerate(chosen)}
    answers.sort(key=lambda one: (order[one.conversation.trial_id, one.conversation.attempt], one.turn.number))
    return answers, found


@dataclass(slots=True)
class _SessionHabits:
    """Habits learnt from the earlier turns of a session. `whole` is True if all these turns were read from pages.
    `before` is the page after the last turn."""

    habits: Habits = field(default_factory=Habits)
    whole: bool = True
    before: PageText | None = None


def _reread_answer(
    run: Path, conversation: Conversation, turn: Turn, reply: SystemTurn, known: _SessionHabits
) -> RereadAnswer:
    was, evidence = reply.answer, reply.evidence
    source = next((name for name in ("page", "reply") if name in evidence), "")
    if not source:
        known.whole = False
        return RereadAnswer(conversation, turn, was)
    try:
        page, read = _read_turn(run, evidence, source, turn.said, known)
        refused = find_refusal(page, read) if source == "page" else None
    except _Unreadable as fault:
        known.whole = False
        return RereadAnswer(conversation, turn, was, None, source, str(fault))
    if was.text and not read.text:
        # No answer without a word is ever recorded: this page is damaged, or is not the one that was read.
        known.whole = False
        return RereadAnswer(conversation, turn, was, None, source, f"no answer is found in {evidence[source]}")
    now = read.answer
    if source == "reply":  # without what was offered below the answer
        now = replace(now, offers=was.offers)
    now = redacted_value(now, Redactor())  # as when it was recorded: markup may have hidden a secret
    if count_marks(was.text) > count_marks(now.text):
        # Markup can separate the pieces of a secret that are adjacent in the text.
        return RereadAnswer(conversation, turn, was, None, source, "left as it is: it would bring back redacted text")
    if refused is None:
        return RereadAnswer(conversation, turn, was, now, source)
    return RereadAnswer(conversation, turn, was, now, source, "", refused.kind, refused.excerpt)


def _reread_failures(
    run: Path, attempt: Attempt, conversation: Conversation, known: _SessionHabits
) -> Iterator[FoundAnswer]:
    for failure in attempt.failures:
        if not failure.turn or "page" not in failure.evidence:
            continue
        try:
            said, ended = conversation.turns[failure.turn - 1].said, failure.reason == "no-reply"
            _, read = _read_turn(run, failure.evidence, "page", said, known, ended=ended)
        except _Unreadable:
            continue  # nothing was recorded from it, so nothing is wrong
        if read.text and read.text != failure.partial:
            yield FoundAnswer(conversation, failure.turn, failure.reason, read.text)


class _Unreadable(Exception):
    """A sentence that says what is wrong with an exhibit."""


def _read_turn(
    run: Path, evidence: Mapping[str, str], source: str, said: str, known: _SessionHabits, *, ended: bool = True
) -> tuple[Page, ReadTurn]:
    """Return the page and the turn on that page. Newly learnt habits are added to `known`. `ended` says whether the
    turn was over when the page was saved. Raises _Unreadable."""
    text = _read_text(run, source, evidence[source])
    watch, habits = _read_watch(run, evidence.get("watch", "")), known.habits
    if not known.whole and isinstance(recorded := watch.get("habits"), dict):
        with suppress(ValueError):
            habits = Habits.from_json(recorded)
    try:
        page = parse_page(text)
        if source == "page":
            # When the first byte came back; None in older recordings, which do not have it.
            first = watch.get("first_byte")
            heard = math.inf if first == "none" else first if isinstance(first, float) else None
            read = read_turn(page, said, habits=habits, before=known.before, heard=heard)
            read = read.doubtful or read if ended else read
            known.habits, known.before = learn_habits(page, read, habits), PageText(page)
        else:
            known.whole = False
            left_out = watch.get("left_out")
            words = [str(one) for one in left_out] if isinstance(left_out, list) else []
            read = read_bubbles(page, habits=habits, left_out=words)
    except Exception as fault:  # one damaged exhibit must not end the reading of the others
        raise _Unreadable(f"{evidence[source]} cannot be read: {fault or type(fault).__name__}") from None
    return page, read


def _read_text(run: Path, name: str, address: str) -> str:
    try:
        return read_exhibit(run, address).decode()
    except UnicodeDecodeError:  # a ValueError too
        raise _Unreadable(f"the exhibit {name!r}, {address}, is not text") from None
    except ValueError as fault:
        raise _Unreadable(f"the exhibit {name!r}, {address}: {fault}") from None


def _read_watch(run: Path, address: str) -> Mapping[str, object]:
    """Return the record of the turn, or an empty record if it cannot be read. Only readings without pages use it."""
    try:
        value = json.loads(_read_text(run, "watch", address)) if address else {}
    except (_Unreadable, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
