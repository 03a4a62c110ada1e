"""Imports of conversations that were exported while they were growing, and again later with the same id or time.

The longer version counts, because it contains the shorter version. Recorded conversations are never rewritten. If the
run has the shorter version with a valid end, the longer version is left out and reported.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recordings.conversations.conversation import Conversation
from recordings.files.times import normalise_time
from recordings.formats.message_shapes import Record
from recordings.formats.message_sides import Judged
from recordings.secrets.redaction import Redactor
from topics.counting import pluralize
from topics.errors import InputError
from topics.identity import content_hash

IdentifiedBy = Literal["number", "id", "time", "file"]
# The user's words and the answer of each turn; None for no answer.
Words = Sequence[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Draft:
    """A conversation of a file before it is numbered. Its trial is 0 if the file gives no number. `name` is the id or
    the time that identifies the conversation, or "" if the file gives neither. `judged` are the judgments of it."""

    conversation: Conversation
    known: IdentifiedBy
    record: Record
    name: str = ""
    judged: Sequence[Judged] = ()


class Identity:
    """Computes the identity of conversations without a number. Identities are stored and never depend on secrets."""

    def __init__(self) -> None:
        self._redactor = Redactor()

    def __call__(self, system: str, topic: str, *names: str, words: Words = ()) -> str:
        return identity_of(system, topic, *names, words=self.redact(words))

    def redact(self, words: Words) -> Words:
        """Redact the text of each turn, as a recording does."""
        clean = self._redactor.text
        return [(clean(said), None if answered is None else clean(answered)) for said, answered in words]


def identity_of(system: str, topic: str, *names: str, words: Words = ()) -> str:
    """Return the identity of a conversation, a hash of its names and its text. The text must have been redacted."""
    return content_hash("imported", {"system": system, "topic": topic, "names": names, "words": list(map(list, words))})


def spoken_words(conversation: Conversation) -> Words:
    return [(turn.said, None if turn.reply is None else turn.reply.answer.text) for turn in conversation.turns]


# Recorded conversations, in all, that are searched for the id of a new one: about two seconds.
_MOST_TRIES = 300_000

_TopicKey = tuple[str, str]


class RecordedImports:
    """The conversations in a run, with which the new conversations of an import are compared."""

    def __init__(self, recorded: Sequence[Conversation]) -> None:
        self._attempts: defaultdict[str, list[Conversation]] = defaultdict(list)
        self._same_time: dict[str, str] = {}
        self._begun: defaultdict[tuple[object, ...], list[Conversation]] = defaultdict(list)
        self._identity = Identity()
        self._tries = _MOST_TRIES
        self.counts: Counter[str] = Counter()
        for one in recorded:
            self._attempts[one.trial_id].append(one)
            if one.turns:
                self._begun[one.key.system, one.key.topic, one.turns[0].said].append(one)
            if one.started_at and normalise_time(one.started_at) != one.started_at:  # by which earlier versions knew it
                about, words = _topic_key(one), spoken_words(one)
                if identity_of(*about, "time", one.started_at, words=words) == one.trial_id:
                    now = identity_of(*about, "time", normalise_time(one.started_at), words=words)
                    self._same_time[now] = one.trial_id

    def match_draft(self, draft: Draft, refuse: Callable[[InputError], object]) -> Draft | None:
        """Compare a draft with the conversations in the run, and return the draft to import.

        The returned draft has the run's identity and its notation of times. If the draft is the beginning of a recorded
        conversation, the recorded conversation is returned. If the draft continues a recorded conversation that counts,
        None is returned and the error is passed to `refuse`.
        """
        one = draft.conversation
        if not self._attempts:
            return draft
        one = replace(one, trial_id=self._same_time.get(one.trial_id, one.trial_id))
        if one.trial_id not in self._attempts and draft.name and one.attempt == 1:
            words = self._identity.redact(spoken_words(one))
            if earlier := self._beginning(draft, words):
                grown = self._next_attempt(one, words, earlier)
                if grown is None:
                    key = earlier[0].key
                    fault = InputError(
                        f"it continues a conversation that is already recorded ({key.system}, {key.topic}, trial "
                        f"{key.trial}) and is not replaced",
                        advice="import the newer file into a new folder, where the longer one counts",
                    )
                    refuse(draft.record.add_place(fault))
                    return None
                one = grown
            else:
                of_this_id = list(self._with_same_id(draft, words))
                for other in of_this_id:
                    if _is_beginning(words, spoken_words(other)):
                        self.counts["shorter"] += 1
                        return replace(draft, conversation=other)
                self.counts["other words"] += draft.known == "id" and bool(of_this_id)
        for known in self._attempts.get(one.trial_id, ()):
            if known.attempt == one.attempt:
                # Use the run's notation of equal times.
                times = {name: getattr(known, name) for name in ("started_at", "ended_at")}
                one = replace(
                    one,
                    **{
                        name: at
                        for name, at in times.items()
                        if normalise_time(at) == normalise_time(getattr(one, name))
                    },
                )
        return replace(draft, conversation=one)

    def describe_changes(self) -> Iterator[str]:
        if count := self.counts["grown"]:
            what = pluralize(count, "conversation")
            yield f"{what} that the run has without an end that counts: added as another attempt, which counts"
        if count := self.counts["shorter"]:
            verb = "is the beginning of a recorded one" if count == 1 else "are beginnings of recorded ones"
            yield f"{count} {verb} of the same id or time: the recorded ones count"
        if count := self.counts["other words"]:
            verb = "has" if count == 1 else "have"
            yield (f"{count} {verb} the id of a recorded conversation but other words: each counts as a separate trial")

    def _beginning(self, draft: Draft, words: Words) -> Sequence[Conversation]:
        about = _topic_key(draft.conversation)
        # To hash every beginning takes the square of the length: minutes for 10,000 turns.
        lengths = {len(one.turns) for one in self._begun.get((*about, words[0][0]), ())} if words else set()
        for shorter in _beginnings(words):
            if len(shorter) not in lengths:
                continue
            identity = identity_of(*about, draft.known, draft.name, words=shorter)
            if found := self._attempts.get(self._same_time.get(identity, identity)):
                return found
        return ()

    def _next_attempt(self, one: Conversation, words: Words, earlier: Sequence[Conversation]) -> Conversation | None:
        first = earlier[0]
        one = replace(one, trial_id=first.trial_id, key=first.key)
        for known in earlier:
            if list(spoken_words(known)) == list(words):
                return replace(one, attempt=known.attempt)
        if any(known.valid for known in earlier):
            return None
        self.counts["grown"] += 1
        return replace(one, attempt=max(known.attempt for known in earlier) + 1)

    def _with_same_id(self, draft: Draft, words: Words) -> Iterator[Conversation]:
        about = _topic_key(draft.conversation)
        for other in self._begun[(*about, words[0][0])] if words else ():
            self._tries -= 1
            if self._tries < 0:
                return
            names = {draft.name, other.started_at} if draft.known == "time" else {draft.name}
            if draft.known == "time" and normalise_time(other.started_at) != draft.name:
                continue
            said = spoken_words(other)
            if any(identity_of(*about, draft.known, name, words=said) == other.trial_id for name in names):
                yield other


def drop_beginnings(drafts: Iterable[Draft]) -> tuple[Sequence[Draft], int]:
    """Drop drafts that are the beginning of another draft with the same id or time, and return their number."""
    several = tuple(drafts)
    named: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for at, draft in enumerate(several):
        if draft.name:
            named[*_topic_key(draft.conversation), draft.known, draft.name, draft.conversation.attempt].append(at)
    gone: set[int] = set()
    for places in named.values():
        if len(places) == 1:
            continue
        begun = {
            tuple(shorter) for at in places for shorter in _beginnings(list(spoken_words(several[at].conversation)))
        }
        gone |= {at for at in places if tuple(spoken_words(several[at].conversation)) in begun}
    return [draft for at, draft in enumerate(several) if at not in gone], len(gone)


def _beginnings(words: Words) -> Iterator[Words]:
    """Yield the possible earlier states of a conversation, the longest first. Each state has at least one answer,
    because a question alone identifies no conversation."""
    for end in range(len(words), 0, -1):
        if end < len(words):
            yield words[:end]
        said, answered = words[end - 1]
        if end > 1 and answered is not None:
            yield [*words[: end - 1], (said, None)]


def _is_beginning(shorter: Words, longer: Words) -> bool:
    return any(answered is not None for _, answered in shorter) and any(
        list(one) == list(shorter) for one in _beginnings(longer) if len(one) == len(shorter)
    )


def _topic_key(conversation: Conversation) -> _TopicKey:
    return conversation.key.system, conversation.key.topic
