"""Footnotes about single answers, as in Figures 2 to 4 of the GFRC paper.

Rules find what the text itself shows: addresses of an earlier answer, repeated addresses, another language than the
user's, and words of an earlier topic. Only people notice invented facts, so their notes on an answer are footnotes,
too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harvest.studies.validity.echoes import find_echoes
from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, TrialKey
from recordings.judged.judgments import Layer, Target
from topics.kinds import UrlKind
from topics.languages import language_name, language_of
from topics.topic import TopicSet


@dataclass(frozen=True, slots=True)
class AnswerNote:
    """A footnote to the answer of `turn` (from 1). Equal `words` are one footnote."""

    key: TrialKey
    turn: int
    words: str


def answer_notes(
    conversations: Sequence[Conversation], topics: TopicSet, layers: Iterable[Layer]
) -> Iterator[AnswerNote]:
    """Yield the footnotes to these conversations. Only addresses of the kind that the topic asks for count, because
    an answer may cite any other source twice. `layers` are judgments; of a person's judgments of one thing, the last
    one counts."""
    kinds = {topic.id: topic.type.url for topic in topics.topics}
    for one in conversations:
        named: dict[str, int] = {}  # the turn in which each address was first given
        for turn in one.turns:
            if turn.reply is None:
                continue
            kind = kinds.get(one.key.topic)
            titles = {} if kind is None else _titles_by_address(turn.reply.answer, kind)
            again = sorted({named[key] for key in titles if key in named})
            words = [f"repeats an address of S{first}" for first in again]
            times, different = max(((len(own), len({*own} - {""}) > 1) for own in titles.values()), default=(0, False))
            if times > 1:
                words.append(f"the same address {times} times" + (", with different titles" if different else ""))
            asked, answered = language_of(turn.said), language_of(turn.reply.answer.text)
            if asked and answered and asked != answered:
                words.append(f"in {language_name(answered)}, although the user wrote {language_name(asked)}")
            yield from (AnswerNote(one.key, turn.number, each) for each in words)
            for key in titles:
                named.setdefault(key, turn.number)
    for echo in find_echoes(conversations):
        yield AnswerNote(echo.key, echo.turn, f"words of the earlier topic {echo.of}: “{echo.words}”")
    yield from _notes_of_people(conversations, layers)


def _titles_by_address(answer: Answer, kind: UrlKind) -> dict[str, list[str]]:
    """Return the titles under which the answer links to each address. An address that is its own title has the title
    "". Sources that are not in the text do not count."""
    beside = {source.href for source in answer.sources if source.place != "text"}
    found: dict[str, list[str]] = {}
    for link in answer.links:
        key = kind.key(link.href)
        if key is not None and link.href not in beside:
            found.setdefault(key, []).append("" if link.text == link.href else link.text)
    return found


def _notes_of_people(finished: Iterable[Conversation], layers: Iterable[Layer]) -> Iterator[AnswerNote]:
    keys = {(one.trial_id, one.attempt): one.key for one in finished}
    latest: dict[tuple[str, str, Target], str] = {}
    for layer in layers:
        for judgment in layer.judgments if layer.kind == "human" else ():
            target = Target.from_judgment(judgment)
            if target is not None and target.speaker == "system":
                latest[layer.author, judgment.criterion, target] = judgment.note
    for (_, criterion, target), note in latest.items():
        key = keys.get((target.trial, target.attempt))
        if key is not None and note:
            yield AnswerNote(key, target.turn, f"{criterion}: {' '.join(note.split())}")
