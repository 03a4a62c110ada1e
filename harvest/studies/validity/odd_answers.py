"""What makes the answers of a run something else than whole, fresh answers of one system, in a sentence each.

The figures stay as they are: an empty or cut text is an answer, and so is one from a cache. Only the reader can know
whether it is what was to be measured, so every sentence gives its count and of how many.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harvest.pages.finding.notices import opens_as_failure
from protocols.rules.empty import is_empty
from recordings.conversations.conversation import Conversation, SystemTurn
from recordings.conversations.reply_endings import ending_of
from recordings.files.evidence import read_exhibit
from topics.counting import pluralize

# `finish` of an answer that was read from a page.
_READ_OFF = frozenset({"signs", "quiet", "stuck"})

_BY_ITSELF = ("filtered", "refused")
_MOST_NAMES = 5  # in a sentence; of the others, how many
# What a body has whose `id` is that of a reply: elsewhere it may be that of a session, which all its replies share.
_COMPLETION = ("choices", "content", "output")


def odd_answers(
    attempts: Sequence[Conversation], finished: Sequence[Conversation], folders: Mapping[str, Path]
) -> Iterator[str]:
    """The sentences about these conversations. attempts: all; finished: the valid ones. folders: the run of each
    system, where the bodies of replies are kept; of a system that is not there, no reply id is known.
    """
    yield from _empty(finished)
    yield from _silent_pages(attempts)
    yield from _changed_answers(attempts)
    yield from _driver_notes(finished)
    by_system: dict[str, list[Conversation]] = {}
    for one in finished:
        by_system.setdefault(one.key.system, []).append(one)
    for system, own in by_system.items():
        replies = [turn.reply for one in own for turn in one.turns if turn.reply is not None]
        # One name for two systems: a gateway that falls back to another model, or a new version in the middle of a
        # run.
        of = Counter(reply.model for reply in replies)
        unnamed = of.pop("", 0)
        if len(of) > 1:
            named = [f"{model} x {count}" for model, count in of.most_common(_MOST_NAMES)]
            if len(of) > _MOST_NAMES:
                named.append(f"{len(of) - _MOST_NAMES} more")
            if unnamed:
                named.append(f"not named x {unnamed}")
            what = "two models" if len(of) == 2 else f"{len(of)} models"
            said = f"{pluralize(len(replies), 'answer')} by {what}: {', '.join(named)}"
            yield f"{system}: {said}; all are in its figures."
        yield from _ended_early(system, replies)
        yield from _same_words(system, own)
        if system in folders:
            yield from _same_ids(system, own, folders[system])
    yield from _like_errors(finished)


def _empty(finished: Sequence[Conversation]) -> Iterator[str]:
    """An empty text is an answer like any other; many of them are more often a fault that nothing else shows."""
    of = Counter(
        one.key.system
        for one in finished
        for turn in one.turns
        if turn.reply is not None and is_empty(turn.reply.answer)
    )
    if of:
        yield f"{pluralize(of.total(), 'empty reply')}, counted as answers ({_list_counts(of)})."


def _list_counts(of: Counter[str]) -> str:
    return ", ".join(f"{system} x {count}" for system, count in of.items())


def _failed_by(attempts: Sequence[Conversation], reason: str) -> Counter[str]:
    """By system, how many attempts failed for this reason."""
    return Counter(
        one.key.system for one in attempts if one.outcome is not None and not one.valid and one.outcome.reason == reason
    )


def _silent_pages(attempts: Sequence[Conversation]) -> Iterator[str]:
    """Where not even an empty bubble came, nobody sees whether the page would still have answered."""
    of = _failed_by(attempts, "no-reply")
    if of:
        yield (
            f"{pluralize(of.total(), 'attempt')} to which no answer came, not even an empty one ({_list_counts(of)}): "
            "in no figure, while an empty reply counts as an answer. Compare such systems with care."
        )


def _changed_answers(attempts: Sequence[Conversation]) -> Iterator[str]:
    """What was seen to change after it had been read: where it is not seen, such an answer is in the figures."""
    of = _failed_by(attempts, "went-on")
    if of:
        yield (
            f"{pluralize(of.total(), 'answer')} that went on, or made way for another, after being read "
            f"({_list_counts(of)}): such an attempt counts in no figure. The next ones were given longer; if there are "
            "many, give `quiet` or `busy` in a site file."
        )


def _driver_notes(finished: Sequence[Conversation]) -> Iterator[str]:
    """What drivers noted on replies, each kind once: a figure may rest on how they were read."""
    of: dict[str, Counter[str]] = {}
    for one in finished:
        for turn in one.turns:
            for note in turn.reply.notes if turn.reply is not None else ():
                of.setdefault(note, Counter())[one.key.system] += 1
    for note, counts in of.items():
        systems = ", ".join(f"{system} x {count}" for system, count in counts.items())
        yield f"{pluralize(counts.total(), 'answer')} ({systems}): {note}."


def _ended_early(system: str, replies: Sequence[SystemTurn]) -> Iterator[str]:
    for endings, what in (("cut",), "cut by the system's own limit"), (_BY_ITSELF, "filtered by the system itself"):
        of = Counter(reply.finish for reply in replies if ending_of(reply.finish) in endings)
        if of:
            said = ", ".join(of)
            count = f"{of.total()} of {pluralize(len(replies), 'answer')}"
            yield f"{system}: {count} {what} ({said}), counted as they are."


def _same_words(system: str, own: Sequence[Conversation]) -> Iterator[str]:
    """Trials that repeat each other are no repeated measurement: of a cache, a fixed seed or a fixed reply."""
    of_topic: dict[str, list[tuple[str, ...]]] = {}
    for one in own:
        said = tuple(exchange.answer.text.strip() for exchange in one.exchanges)
        if any(said):
            of_topic.setdefault(one.key.topic, []).append(said)
    repeated = [trials for trials in of_topic.values() if len(trials) > 1]
    same = sum(len(set(trials)) == 1 for trials in repeated)
    if same:
        conversations, different = sum(map(len, repeated)), sum(len(set(trials)) for trials in repeated)
        yield (
            f"{system}: all trials of {same} of {pluralize(len(repeated), 'topic')} have the same words "
            f"({pluralize(conversations, 'conversation')}, {different} different)."
        )


def _same_ids(system: str, own: Sequence[Conversation], run: Path) -> Iterator[str]:
    """A reply that comes again with its id was not made again. Only bodies of replies with words that another trial has
    too are read: of the others, none is a repetition."""
    of_words: dict[str, list[tuple[int, SystemTurn]]] = {}
    answers = 0
    for trial, one in enumerate(own):
        for turn in one.turns:
            if turn.reply is not None:
                answers += 1
                of_words.setdefault(turn.reply.answer.text, []).append((trial, turn.reply))
    known: dict[str, str] = {}
    again = 0
    for alike in of_words.values():
        if len({trial for trial, _ in alike}) < 2:
            continue
        first: dict[str, int] = {}
        for trial, reply in alike:
            address = reply.evidence.get("response") or reply.evidence.get("stream") or ""
            if address and address not in known:
                known[address] = _reply_id(run, address)
            name = known.get(address, "")
            again += bool(name) and first.setdefault(name, trial) != trial
    if again:
        yield (
            f"{system}: {again} of {pluralize(answers, 'answer')} came with the words and the reply id of an earlier "
            "trial, as from a cache."
        )


def _reply_id(run: Path, address: str) -> str:
    """The `id` of a completion, whole or in pieces, by its body; "" where it has none or is no longer there."""
    try:
        body = read_exhibit(run, address)
        if address.endswith(".sse"):
            pieces = (line.removeprefix(b"data:").strip() for line in body.splitlines() if line.startswith(b"data:"))
            body = next(pieces, b"")
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    told = value.get("id") if isinstance(value, dict) and any(key in value for key in _COMPLETION) else None
    return told if isinstance(told, str) else ""


def _like_errors(finished: Sequence[Conversation]) -> Iterator[str]:
    """Answers read from pages that may be errors which nothing but their words gives away: for a person to check."""
    of = Counter(
        one.key.system
        for one in finished
        for turn in one.turns
        if turn.reply is not None and turn.reply.finish in _READ_OFF and opens_as_failure(turn.reply.answer.text)
    )
    if of:
        systems = ", ".join(f"{system} x {count}" for system, count in of.items())
        yield (
            f"{pluralize(of.total(), 'answer')} opening with the words of an error ({systems}): if the page failed, "
            "say in a site file how that looks, see `blocked` in docs/sites.md."
        )
