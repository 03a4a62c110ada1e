"""Faults of the harness, found by comparing the recording of a placebo with its known answers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harvest.parrot.placebo import placebo_answer
from recordings.conversations.conversation import Conversation, Turn
from recordings.log.run_folder import Run
from topics.counting import pluralize
from topics.links import links_in


@dataclass(frozen=True, slots=True)
class Harness:
    """The result of checking the harness with a placebo. `turns` is the number of the placebo's turns. `faults`
    maps each kind of fault to its number of occurrences and to its first occurrence. `noted` has sentences about
    faults from an earlier check of the same run."""

    turns: int = 0
    faults: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    noted: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        return not self.faults and not self.noted

    def sentences(self) -> Iterator[str]:
        """Yield a sentence about each kind of fault."""
        yield from self.noted
        for what, (count, where) in self.faults.items():
            yield f"{what}: {pluralize(count, 'time')} of {pluralize(self.turns, 'turn')}, first in {where}"


def compare_with_placebo(run: Run, heard: Mapping[str, Sequence[str]]) -> Harness:
    """Compare the run with the placebo's answers. `heard` has the messages that the placebo received, by session."""
    found: dict[str, list[str]] = {}
    turns = 0
    for one in run.conversations:
        turns += max(1, len(one.turns))
        for what, where in _conversation_faults(one):
            found.setdefault(what, []).append(where)
    for what, where in _sent_faults(run, heard):
        found.setdefault(what, []).append(where)
    return Harness(turns, {what: (len(each), each[0]) for what, each in found.items()})


def _conversation_faults(one: Conversation) -> Iterator[tuple[str, str]]:
    name = f"{one.key.system}, {one.key.topic} trial {one.key.trial}"
    if not one.valid:
        reason = one.outcome.why if one.outcome is not None else "interrupted"
        yield f"no valid conversation ({reason})", name
    said: list[str] = []
    for turn in one.turns:
        said.append(turn.said)
        if turn.reply is None:
            continue
        wrong = _answer_fault(
            turn, placebo_answer(said), [placebo_answer(said[:before]) for before in range(1, len(said))]
        )
        if wrong:
            yield wrong, f"{name}, turn {turn.number}"


def _answer_fault(turn: Turn, wanted: str, earlier: Sequence[str]) -> str:
    assert turn.reply is not None
    text, expected = _normalized_words(turn.reply.answer.text), _normalized_words(wanted)
    if text == expected:
        links = Counter(link.href for link in turn.reply.answer.links)
        return "" if links == Counter(link.href for link in links_in(wanted)) else "links were not recorded as they are"
    if not text:
        return "an answer was recorded as empty"
    if text in map(_normalized_words, earlier):
        return "an earlier answer was recorded again"
    if expected in text:
        return "more than the answer was recorded"
    if text in expected:
        return "an answer was cut"
    return "another answer was recorded than was given"


def _sent_faults(run: Run, heard: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    pages = {
        name for name, one in run.header.systems.items() if isinstance(one, dict) and one.get("driver") == "browser"
    }
    said = [
        (tuple(_normalized_words(turn.said) for turn in one.turns), one)
        for one in run.conversations
        if one.key.system in pages and one.turns
    ]
    came = Counter(tuple(map(_normalized_words, turns)) for turns in heard.values())
    for turns, one in said:
        if came[turns]:
            came[turns] -= 1
        else:
            where = f"{one.key.system}, {one.key.topic} trial {one.key.trial}"
            yield "the page received other messages than those recorded", where


def _normalized_words(text: str) -> str:
    return " ".join(text.split())
