"""Words of an earlier topic in the answer to a later topic of the same session.

In the pilot study of GFRC, a system answered R012 (about SIGIR) with "researchers who have published at least one
paper (any track) at the KDD conference", as the user had asked for R011 (T. Sakai, EVIA 2023, Figure 3, footnote 2).

An echo is a run of four or more words (eight characters in Chinese and Japanese) that the user said about an earlier
topic of the session. Words that the user also said in this conversation are not an echo. Nor are words that a system
wrote in any conversation before a user had said them: such words need not come from the earlier topic.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from harvest.terminal import printable
from recordings.conversations.conversation import Conversation, TrialKey
from scoring.words import CHARACTERS_A_WORD
from topics.shown_names import shorten

_FEWEST_WORDS = 4
_LONGEST_QUOTE = 100  # characters
_MOST_NAMED = 5  # in sentences; the others are counted
# Kana, Han, Thai, Lao, Burmese and Khmer, which are written without spaces: each character is a token.
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_MARKS = (  # of the scripts whose marks are no word characters
    r"\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0981-\u0dff\u0e31-\u0e4e\u0eb1-\u0ecd\u102b-\u103e\u17b4-\u17d3"
)
_TOKEN = re.compile(rf"[{_UNSPACED}](?:(?!\w)[{_MARKS}])*|(?:(?![{_UNSPACED}])\w(?:(?!\w)[{_MARKS}])*)+")

_Gram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Echo:
    """An answer with words of an earlier topic. `key` and `turn` (from 1) name the answer. `of` and `of_turn` are the
    earlier topic and the user turn with the words, and `words` is the passage as it is written in the answer."""

    key: TrialKey
    turn: int
    of: str
    of_turn: int
    words: str

    @property
    def sentence(self) -> str:
        """The echo as a sentence."""
        where = f"{self.key.system}, {self.key.topic}, trial {self.key.trial}: S{self.turn}"
        return f"{where} has words of U{self.of_turn} of {self.of}, asked earlier in the session: “{self.words}”."


@dataclass(frozen=True, slots=True)
class _Text:
    """A text as tokens: `grams` are their runs of four, each with its first place among the `words`."""

    words: tuple[str, ...]
    grams: dict[_Gram, int]


def _as_text(text: str) -> _Text:
    # Casefolding a whole text may split a word in two; then words would not be where they are in the text.
    words = tuple("\n".join(_TOKEN.findall(text)).casefold().split("\n"))
    runs = list(zip(*(words[start:] for start in range(_FEWEST_WORDS)), strict=False))
    return _Text(words, dict(zip(reversed(runs), reversed(range(len(runs))), strict=True)))


@lru_cache(maxsize=2**12)  # each is compared with the answers to all later topics
def _user_text(said: str) -> _Text:
    return _as_text(said)


def find_echoes(conversations: Sequence[Conversation]) -> tuple[Echo, ...]:
    """Return at most one echo of each earlier topic for each answer. `conversations` are the valid conversations of all
    trials. Returns () if each conversation has a session of its own."""
    if not any(one.place > 1 for one in conversations):
        return ()
    before = _earlier_conversations(conversations)
    candidates = [found for one in conversations if one.place > 1 for found in _shared_runs(one, before[one.key])]
    if not candidates:
        return ()
    wanted = {gram for _, grams in candidates for gram in grams}
    unprompted: set[_Gram] = set()
    for one in conversations:
        answers = (turn.reply.answer.text for turn in one.turns if turn.reply is not None)
        hits = {gram for text in answers for gram in wanted & _as_text(text).grams.keys()}
        if hits:
            said = [turn.said for other in (one, *before[one.key]) for turn in other.turns]
            unprompted |= hits.difference(*(_user_text(text).grams for text in said))
    return tuple(echo for echo, grams in candidates if grams - unprompted)


def echo_sentences(conversations: Sequence[Conversation], systems: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each of the first echoes of these systems, and a sentence with the number of further
    echoes."""
    chosen = frozenset(systems)
    found = [echo for echo in find_echoes(conversations) if echo.key.system in chosen]
    yield from (printable(echo.sentence, line=True) for echo in found[:_MOST_NAMED])
    if len(found) > _MOST_NAMED:
        yield f"{len(found) - _MOST_NAMED} more answers with words of an earlier topic: `harvest report` marks each."


def _earlier_conversations(finished: Sequence[Conversation]) -> dict[TrialKey, tuple[Conversation, ...]]:
    """Return what came before each conversation in its session, in order. A session that was interrupted continues
    under another name: it continues the one of its trial that ends at the place before its first."""
    sessions: dict[tuple[str, int], dict[str, dict[int, Conversation]]] = {}
    for one in sorted(finished, key=lambda one: one.started_at):
        sessions.setdefault((one.key.system, one.key.trial), {}).setdefault(one.session, {})[one.place] = one
    for trial in sessions.values():
        ended: list[dict[int, Conversation]] = []  # those that nothing continues so far, in order of their begin
        for own in trial.values():
            before = [other for other in ended if max(other) == min(own) - 1]
            if before:
                ended = [other for other in ended if other is not before[-1]]
                own.update(before[-1])
            ended.append(own)
    found = {}
    for one in finished:
        whole = sessions[one.key.system, one.key.trial][one.session]
        found[one.key] = tuple(whole[place] for place in sorted(whole) if place < one.place)
    return found


def _shared_runs(one: Conversation, before: Iterable[Conversation]) -> Iterator[tuple[Echo, set[_Gram]]]:
    """Yield a long run of words that each answer shares with each earlier topic, and its runs of four words that the
    user did not say in this conversation."""
    earlier = [(other.key.topic, turn.number, _user_text(turn.said)) for other in before for turn in other.turns]
    own: set[_Gram] = set()
    for turn in one.turns:
        own |= _user_text(turn.said).grams.keys()
        if turn.reply is None:
            continue
        text = turn.reply.answer.text
        answer = _as_text(text)
        unsaid = answer.grams.keys() - own
        longest: dict[str, tuple[float, int, int, int]] = {}
        for topic, number, said in earlier:
            for gram in said.grams.keys() & unsaid:
                start, end = _widen(answer, answer.grams[gram], said, said.grams[gram])
                size = sum(1 / CHARACTERS_A_WORD if _is_unspaced(word) else 1 for word in answer.words[start:end])
                if size >= _FEWEST_WORDS:
                    longest[topic] = max(longest.get(topic, (0.0, 0, 0, 0)), (size, -start, end, number))
        for topic, (_, start, end, number) in longest.items():
            grams = {answer.words[at : at + _FEWEST_WORDS] for at in range(-start, end - _FEWEST_WORDS + 1)}
            tokens = list(_TOKEN.finditer(text))
            words = " ".join(text[tokens[-start].start() : tokens[end - 1].end()].split())
            words = words.encode("utf-8", "replace").decode()  # without lone surrogates
            yield Echo(one.key, turn.number, topic, number, shorten(words, _LONGEST_QUOTE)), grams - own


def _widen(one: _Text, place: int, other: _Text, at: int) -> tuple[int, int]:
    """Return the first and the last token + 1 of the longest common run around a token of each text."""
    before = after = 0
    while before < min(place, at) and one.words[place - before - 1] == other.words[at - before - 1]:
        before += 1
    while after < min(len(one.words) - place, len(other.words) - at) and (
        one.words[place + after] == other.words[at + after]
    ):
        after += 1
    return place - before, place + after


def _is_unspaced(word: str) -> bool:
    return len(word) == 1 and re.fullmatch(f"[{_UNSPACED}]", word) is not None
