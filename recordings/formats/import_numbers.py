"""Recognition of equal conversations in an import, and numbering of trials that have no number.

A position in a file does not identify a conversation, because the next day's file starts at line 1 again. A
conversation is identified by its system, its topic, and the first of these that it has:

    number   `metadata.trial`
    id       its id in another program, and its text
    time     its start time, and its text
    file     the hash of its file, and its position there, so that the same file has the same conversations again
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from recordings.conversations.conversation import Conversation, TrialKey
from recordings.files.times import normalise_time
from recordings.formats.import_growth import Draft, IdentifiedBy, RecordedImports, drop_beginnings
from recordings.formats.message_shapes import record_place
from recordings.secrets.redaction import Redactor
from topics.counting import pluralize
from topics.errors import InputError

_EQUAL_CONTENT: dict[IdentifiedBy, str] = {
    "number": "the trial number and all other content of others",
    "id": "the id and the words of others",
    "time": "the time and the words of others",
    "file": "the place of others in a file of the same bytes",
}


@dataclass(frozen=True, slots=True)
class NumberedDrafts:
    """Every distinct conversation, in the order of the drafts, and sentences on repeated conversations."""

    drafts: Sequence[Draft]
    told: Sequence[str]


def number_drafts(
    drafts: Iterable[Draft], recorded: Sequence[Conversation], refuse: Callable[[InputError], object]
) -> NumberedDrafts:
    """Number the drafts after the conversations in `recorded`, which are already in the run. A draft that is already in
    the run keeps its number.

    A draft is left out, and the error passed to `refuse`, if the draft continues a recorded conversation or contradicts
    an earlier draft, for example by other text under the same number or other labels under the same id.
    """
    run = RecordedImports(recorded)
    kept: dict[tuple[str, int], Draft] = {}
    places: dict[tuple[TrialKey, int], Draft] = {}
    repeated: Counter[IdentifiedBy] = Counter()
    named: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for draft in drafts:
        one = draft.conversation
        first = kept.get((one.trial_id, one.attempt))
        if first is None and one.key.trial:
            first = places.get((one.key, one.attempt))
        if first is None:
            kept[one.trial_id, one.attempt] = places[one.key, one.attempt] = draft
        elif _normalise_notation(first.conversation) == _normalise_notation(one):
            repeated[draft.known] += 1
        else:
            refuse(draft.record.add_place(_contradiction(first, draft)))
    whole, shorter = drop_beginnings(kept.values())
    for draft in whole:
        if draft.known == "id":
            one = draft.conversation
            named[one.key.system, one.key.topic, draft.name].add(one.trial_id)
    new = [draft for draft in (run.match_draft(draft, refuse) for draft in whole) if draft]
    found = _assign_numbers(new, recorded)
    told = [
        f"{count} {'has' if count == 1 else 'have'} {_EQUAL_CONTENT[known]}: once each"
        for known, count in repeated.items()
    ]
    if double := sum(len(ids) - 1 for ids in named.values()):
        verb = "has" if double == 1 else "have"
        told.append(f"{double} {verb} the id of another conversation but other words: each counts as a separate trial")
    if shorter:
        verb = "is the beginning of another" if shorter == 1 else "are beginnings of others"
        told.append(f"{shorter} {verb} of the same id or time, exported while it was growing: the longer one counts")
    told += [*run.describe_changes(), *_report_similar(found, recorded)]
    return NumberedDrafts(found, told)


def _normalise_notation(one: Conversation) -> Conversation:
    return replace(one, started_at=normalise_time(one.started_at), ended_at=normalise_time(one.ended_at))


def _assign_numbers(drafts: Iterable[Draft], recorded: Sequence[Conversation]) -> Sequence[Draft]:
    several = tuple(drafts)
    there = {one.trial_id: one.key.trial for one in recorded}
    used: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for key in (*(one.key for one in recorded), *(draft.conversation.key for draft in several)):
        used[key.system, key.topic].add(key.trial)
    last: Counter[tuple[str, str]] = Counter()
    given: dict[str, int] = {}  # attempts of one trial have one number
    found = []
    for draft in several:
        one = draft.conversation
        about = (one.key.system, one.key.topic)
        trial = one.key.trial or there.get(one.trial_id) or given.get(one.trial_id, 0)
        if not trial:
            last[about] += 1
            while last[about] in used[about]:
                last[about] += 1
            trial = given[one.trial_id] = last[about]
        if trial == one.key.trial:
            found.append(draft)
        else:
            found.append(replace(draft, conversation=replace(one, key=replace(one.key, trial=trial))))
    return found


def _report_similar(drafts: Sequence[Draft], recorded: Sequence[Conversation]) -> list[str]:
    """Return a sentence if new conversations differ from recorded conversations only in their file."""
    there = {one.trial_id for one in recorded}
    words = {_word_key(one) for one in recorded}
    redactor = Redactor()
    alike = sum(
        draft.known == "file"
        and draft.conversation.trial_id not in there
        and _word_key(draft.conversation, redactor.text) in words
        for draft in drafts
        if words
    )
    if not alike:
        return []
    what = f"{pluralize(alike, 'conversation')} of new files with the same words as recorded ones"
    return [f"{what}: it is unknown whether they are the same, so each counts; ids would tell (metadata.id)"]


def _word_key(conversation: Conversation, clean: Callable[[str], str] = str) -> tuple[object, ...]:
    key = conversation.key
    said = [
        (clean(turn.said), "" if turn.reply is None else clean(turn.reply.answer.text)) for turn in conversation.turns
    ]
    return (key.system, key.topic, *said)


def _contradiction(first: Draft, draft: Draft) -> InputError:
    key, where = draft.conversation.key, f"line {record_place(first.record.at).line}"
    if record_place(first.record.at).path != record_place(draft.record.at).path:
        where = str(record_place(first.record.at))
    if draft.known == "number" and first.conversation.key == key:
        return InputError(
            f"{key.system}, {key.topic}, trial {key.trial} is repeated (first in {where})",
            advice="give the conversations different trial numbers in their metadata, or none: they are then numbered",
        )
    if draft.known == "number":
        return InputError(
            f"the id {draft.conversation.trial_id[:60]!r} is that of another conversation (in {where})",
            advice="give each conversation a different id, or remove the ids",
        )
    return InputError(
        f"the same conversation as in {where}, with other labels or metadata",
        advice="keep the one that is right, or give each its trial number: metadata.trial",
    )
