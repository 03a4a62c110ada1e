"""Sentences about answers that may be incomplete, cached, or from another system.

Figures include such answers, because an empty, cut or cached text is also an answer. Only the reader knows whether such
answers should be measured. Every sentence therefore gives a count and its total.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from harvest.pages.finding.notices import opens_as_failure
from protocols.rules.empty import is_empty
from recordings.conversations.conversation import Conversation, SystemTurn, ending_from_finish
from recordings.conversations.outlines import Outlines, body_address, by_system, kinds
from recordings.files.evidence import read_exhibit
from topics.counting import pluralize

# `finish` of an answer that was read from a page.
_PAGE_FINISHES = frozenset({"signs", "quiet", "stuck"})

_FILTERED_ENDINGS = ("filtered", "refused")
_MOST_NAMES = 5  # in a sentence; the others are counted
_OTHER_BODIES = 20  # with words of their own, read to learn whether an id is of one reply
# Keys of a body whose `id` is the reply's; in other bodies it may be the session's, shared by all replies.
_COMPLETION_KEYS = ("choices", "content", "output")


def odd_answers(
    attempts: Sequence[Conversation], conversations: Sequence[Conversation], folders: Mapping[str, Path]
) -> Iterator[str]:
    """Yield the sentences about these conversations. `conversations` are the valid conversations among `attempts`.
    `folders` has the run folder of each system, in which the bodies of replies are stored. Replies of systems
    without a folder have no id."""
    # An empty text is an answer like any other; many of them are more often a fault that nothing else shows.
    empty = _count_replies(conversations, "empty")
    if empty:
        yield f"{pluralize(empty.total(), 'empty reply')}, counted as answers ({_list_counts(empty)})."
    # If not even an empty bubble came, the page might still have answered.
    silent = _count_failures(attempts, "no-reply")
    if silent:
        yield (
            f"{pluralize(silent.total(), 'attempt')} to which no answer came, not even an empty one "
            f"({_list_counts(silent)}): in no figure, while an empty reply counts as an answer. Compare such systems "
            "with care."
        )
    # These were seen to change; an answer whose change went unseen is in the figures.
    changed = _count_failures(attempts, "went-on")
    if changed:
        yield (
            f"{pluralize(changed.total(), 'answer')} that went on, or made way for another, after being read "
            f"({_list_counts(changed)}): such an attempt counts in no figure. The next ones were given longer; if "
            "there are many, give `quiet` or `busy` in a site file."
        )
    yield from _driver_notes(conversations)
    for system, own in by_system(conversations).items():
        of: Counter[str] = Counter()
        ends: Counter[str] = Counter()
        for one, count, _ in kinds(own):
            for turn in one.turns:
                if turn.reply is not None:
                    of[turn.reply.model] += count
                    ends[turn.reply.finish] += count
        answers = pluralize(of.total(), "answer")
        # One name for two systems: a gateway that falls back to another model, or a new version during a run.
        unnamed = of.pop("", 0)
        if len(of) > 1:
            named = [f"{model} x {count}" for model, count in of.most_common(_MOST_NAMES)]
            if len(of) > _MOST_NAMES:
                named.append(f"{len(of) - _MOST_NAMES} more")
            if unnamed:
                named.append(f"not named x {unnamed}")
            what = "two models" if len(of) == 2 else f"{len(of)} models"
            said = f"{answers} by {what}: {', '.join(named)}"
            yield f"{system}: {said}; all are in its figures."
        for endings, what in (
            (("cut",), "cut by the system's own limit"),
            (_FILTERED_ENDINGS, "filtered by the system itself"),
        ):
            early = {finish: count for finish, count in ends.items() if ending_from_finish(finish) in endings}
            if early:
                yield (
                    f"{system}: {sum(early.values())} of {answers} {what} ({', '.join(early)}), counted as they are."
                )
        yield from _same_words(system, own)
        if system in folders:
            yield from _same_ids(system, own, folders[system])
    # Pages show some errors as answers, and only their words give these away: a person has to check.
    like_errors = _count_replies(conversations, "like errors")
    if like_errors:
        yield (
            f"{pluralize(like_errors.total(), 'answer')} opening with the words of an error "
            f"({_list_counts(like_errors)}): if the page failed, say in a site file how that looks, see `blocked` in "
            "docs/sites.md."
        )


def _count(one: Conversation, counts: Callable[[SystemTurn], bool]) -> int:
    return sum(turn.reply is not None and counts(turn.reply) for turn in one.turns)


def _opens_as_error(reply: SystemTurn) -> bool:
    return reply.finish in _PAGE_FINISHES and opens_as_failure(reply.answer.text)


# How many answers of a conversation are of a kind that only their words show.
COUNTED: Mapping[str, Callable[[Conversation], int]] = {
    "empty": lambda one: _count(one, lambda reply: is_empty(reply.answer)),
    "like errors": lambda one: _count(one, _opens_as_error),
}


def _count_replies(finished: Sequence[Conversation], trait: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for one, count, replies in kinds(finished, trait, COUNTED[trait]):
        if replies:
            found[one.key.system] += count * replies
    return found


def _list_counts(of: Counter[str]) -> str:
    return ", ".join(f"{system} x {count}" for system, count in of.items())


def _count_failures(attempts: Sequence[Conversation], reason: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for one, count, _ in kinds(attempts):
        if one.outcome is not None and not one.valid and one.outcome.reason == reason:
            found[one.key.system] += count
    return found


def _driver_notes(finished: Sequence[Conversation]) -> Iterator[str]:
    of: dict[str, Counter[str]] = {}
    for one, count, _ in kinds(finished):
        for turn in one.turns:
            for note in turn.reply.notes if turn.reply is not None else ():
                of.setdefault(note, Counter())[one.key.system] += count
    for note, counts in of.items():
        yield f"{pluralize(counts.total(), 'answer')} ({_list_counts(counts)}): {note}."


def _same_words(system: str, own: Sequence[Conversation]) -> Iterator[str]:
    """Report identical trials. Trials from a cache or with a fixed seed are not repeated measurements."""
    if isinstance(own, Outlines):
        trials = own.different_words()
    else:
        of_topic: dict[str, list[tuple[str, ...]]] = {}
        for one in own:
            said = tuple(exchange.answer.text.strip() for exchange in one.exchanges)
            if any(said):
                of_topic.setdefault(one.key.topic, []).append(said)
        trials = [(len(each), len(set(each))) for each in of_topic.values()]
    repeated = [(count, different) for count, different in trials if count > 1]
    same = sum(different == 1 for _, different in repeated)
    if same:
        conversations, different = (sum(column) for column in zip(*repeated, strict=True))
        yield (
            f"{system}: all trials of {same} of {pluralize(len(repeated), 'topic')} have the same words "
            f"({pluralize(conversations, 'conversation')}, {different} different)."
        )


def _same_ids(system: str, own: Sequence[Conversation], run: Path) -> Iterator[str]:
    """Report replies that have the id of an earlier reply and so were not generated again. Bodies are read only for
    replies whose text occurs in another trial, and if such replies share an id, for some others: an id that comes with
    other words, too, is of the server or of the topic, and not of one reply."""
    answers = sum(count * _count(one, lambda reply: True) for one, count, _ in kinds(own))
    groups: Iterable[list[tuple[int, str]]]
    singles: Iterable[str]
    if isinstance(own, Outlines):
        groups, singles = own.bodies.groups(), own.bodies.singles()
    else:
        of_words: dict[str, list[tuple[int, str]]] = {}
        for trial, one in enumerate(own):
            for turn in one.turns:
                address = "" if turn.reply is None else body_address(turn.reply)
                if address and turn.reply is not None:
                    of_words.setdefault(turn.reply.answer.text, []).append((trial, address))
        groups = of_words.values()
        singles = (alike[0][1] for alike in of_words.values() if len(alike) == 1)
    known: dict[str, str] = {}
    again: Counter[str] = Counter()
    seen: dict[str, int] = {}  # by id, the words it came with first
    shared: set[str] = set()
    for words, alike in enumerate(groups):
        if len({trial for trial, _ in alike}) < 2:
            continue
        first: dict[str, int] = {}
        for trial, address in alike:
            if address not in known:
                known[address] = _reply_id(run, address)
            name = known[address]
            again[name] += bool(name) and first.setdefault(name, trial) != trial
            if seen.setdefault(name, words) != words:
                shared.add(name)
    if any(again.values()):
        shared.update(_reply_id(run, address) for address in islice(singles, _OTHER_BODIES))
    if repeated := sum(count for name, count in again.items() if name not in shared):
        yield (
            f"{system}: {repeated} of {pluralize(answers, 'answer')} came with the words and the reply id of an "
            "earlier trial, as from a cache."
        )


def _reply_id(run: Path, address: str) -> str:
    """Return the `id` in the stored body of a completion, streamed or not. Returns "" if there is no id or no body."""
    try:
        body = read_exhibit(run, address)
        if address.endswith(".sse"):
            pieces = (line.removeprefix(b"data:").strip() for line in body.splitlines() if line.startswith(b"data:"))
            body = next(pieces, b"")
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    told = value.get("id") if isinstance(value, dict) and any(key in value for key in _COMPLETION_KEYS) else None
    return told if isinstance(told, str) else ""
