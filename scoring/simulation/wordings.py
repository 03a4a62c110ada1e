"""The words of simulated users and people: their length, variety, questions, courtesy, slips and language.

A user can behave as people do and still speak like a machine: always at the same length, without a slip, always
courteous. Each measure is a mean or a distribution over user turns. It is compared with the difference between halves
of the real users, and tested by relabelling whole users, as behaviour is (`scoring.inference.relabelled`).

    words           Kolmogorov-Smirnov distance of the number of words in a turn
    letters         difference of the mean length of a word, a plain measure of how hard words are
    variety         difference of the mean type-token ratio of a dialogue's first 20 words
    vocabulary      Jensen-Shannon divergence of the words themselves, in bits
    repeats         difference in how likely two words of different turns are the same (Simpson's index)
    questions       difference in the share of turns that ask
    courtesy        difference in the share of turns with a greeting, thanks or please
    slips           difference in the share of words seen once that are one letter from a frequent word
    languages       Jensen-Shannon divergence of the languages of turns whose language can be detected

Variety and repeats do not grow with the number of words. Slips only suggest typing errors: no dictionary is needed, and
a rare word may be similar to a frequent word.

Sources: E. H. Simpson, Nature 163, 1949; G. U. Yule, The Statistical Study of Literary Vocabulary, 1944.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordings.acts.dialogue import Dialogue
from scoring.inference.relabelled import compare_with_relabelled
from scoring.simulation.halves import FEWEST
from scoring.simulation.relabelled_users import by_user, common_strata, divergence
from topics.arrays import Floats
from topics.languages import language_of

# The measures, and what they are of.
WORDINGS: Mapping[str, str] = {
    "words": "words in a turn",
    "letters": "letters in a word",
    "variety": "type-token ratio of a dialogue's first 20 words",
    "vocabulary": "the words themselves",
    "repeats": "chance that two words are the same",
    "questions": "share of turns that ask",
    "courtesy": "share of turns with a greeting, thanks or please",
    "slips": "share of words that look mistyped",
    "languages": "languages of turns",
}

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ASKS = re.compile(
    r"[?？؟;;]\s*$|[?？؟]|^\W*(?:who|what|which|when|where|why|how|can|could|would|do|does|did|is|are|wer|was|welche|wann|wo"
    r"|warum|wie|qui|que|quel|quelle|quand|où|pourquoi|comment|quién|qué|cuál|cuándo|dónde|cómo)\b",
    re.IGNORECASE,
)
_COURTEOUS = re.compile(
    r"\b(?:please|thanks?|thank you|thx|hi|hello|hey|good (?:morning|evening|day)|bye|goodbye|sorry|bitte|danke|hallo"
    r"|merci|bonjour|s'il vous plaît|gracias|por favor|hola|grazie|per favore|ciao|obrigad[oa])\b"
    r"|お願い|ありがとう|请|谢谢",
    re.IGNORECASE,
)
_FIRST = 20  # first words of a dialogue, whose variety is measured
_LONGEST = 60  # words of a turn; longer ones count as this long
_BUCKETS = 2**12  # into which words are hashed
_FREQUENT, _SHORTEST = 5, 5  # times that a word is seen, letters that it has, for others to be slips of it
_UNDETECTED = ""
_ALPHA = 0.05  # of the test over all four figures together


@dataclass(frozen=True, slots=True)
class WordingMeasure:
    """One measure, with its mean on each side (NaN for a distribution), the distance `value`, and the p of this measure
    alone. `low` and `high` are the middle 95% of the difference between halves of the real users."""

    real: float
    simulated: float
    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class WordingComparison:
    """The measures by name, the p of all measures `together`, and the numbers of turns and users with words by side."""

    measures: Mapping[str, WordingMeasure]
    together: float
    turns: tuple[int, int]
    users: tuple[int, int]

    @property
    def verdict(self) -> str:
        """`beyond` if `together` is at most .05, else `within`; `undecided` with fewer than 20 users on a side."""
        if math.isnan(self.together) or min(self.users) < 2 * FEWEST:
            return "undecided"
        return "beyond" if self.together <= _ALPHA else "within"


def compare_wordings(
    real: Sequence[Dialogue],
    simulated: Sequence[Dialogue],
    rng: np.random.Generator,
    *,
    splits: int = 200,
    draws: int = 999,
) -> WordingComparison | None:
    """Compare the words of both sides; None if no turn has words, or if there are fewer than two real users."""
    spoken = [[one for one in side if any(turn.said for turn in one.turns)] for side in (real, simulated)]
    sides = [by_user(side) for side in spoken]
    if len(sides[0]) < 2 or not sides[1]:
        return None
    table = _Table.from_dialogues([one for side in spoken for one in side])
    first, second = (np.array([table.sums(held) for held in side.values()]) for side in sides)
    seen = compare_with_relabelled(first, second, table.distances, rng, strata=common_strata(*sides), draws=draws)
    halves = np.zeros((splits, len(first)))
    for row in halves:
        row[rng.permutation(len(first))[: len(first) // 2]] = 1
    floors = table.distances(halves @ first, (1 - halves) @ first)
    sums = [side.sum(axis=0, keepdims=True) for side in (first, second)]
    values = table.distances(*sums)[0]
    means = [table.means(side) for side in sums]
    measures = {}
    for place, name in enumerate(WORDINGS):
        known = floors[:, place][~np.isnan(floors[:, place])]
        low, high = np.quantile(known, [0.025, 0.975]) if known.size else (math.nan, math.nan)
        real_mean, simulated_mean = (side.get(name, math.nan) for side in means)
        measures[name] = WordingMeasure(
            real_mean, simulated_mean, float(values[place]), float(low), float(high), seen.p[place]
        )
    turns = [sum(bool(turn.said) for one in side for turn in one.turns) for side in spoken]
    return WordingComparison(measures, seen.together, (turns[0], turns[1]), (len(sides[0]), len(sides[1])))


@dataclass(frozen=True, slots=True)
class _Table:
    slips: frozenset[str]
    languages: Mapping[str, int]
    told: Mapping[str, str]

    @classmethod
    def from_dialogues(cls, dialogues: Sequence[Dialogue]) -> "_Table":
        texts = {turn.said for one in dialogues for turn in one.turns if turn.said}
        told = {text: language_of(text) for text in texts}
        languages = {name: place for place, name in enumerate(sorted(set(told.values()) - {_UNDETECTED}))}
        counted = Counter(word for one in dialogues for turn in one.turns for word in _words(turn.said or ""))
        return cls(_find_typing_errors(counted), languages, told)

    @property
    def _ends(self) -> npt.NDArray[np.int64]:
        # words in a turn; turns, that ask, courteous; words, letters, slips; dialogues, their variety; languages; words
        found: npt.NDArray[np.int64] = np.cumsum([_LONGEST + 1, 3, 3, 2, max(1, len(self.languages)), _BUCKETS])
        return found

    def sums(self, dialogues: Sequence[Dialogue]) -> Floats:
        ends = self._ends
        found = np.zeros(ends[-1])
        lengths, turns, letters, variety, languages, buckets = np.split(found, ends[:-1])
        for one in dialogues:
            first: list[str] = []
            for turn in one.turns:
                if not turn.said:
                    continue
                words = _words(turn.said)
                lengths[min(_LONGEST, len(words))] += 1
                turns += (1, bool(_ASKS.search(turn.said)), bool(_COURTEOUS.search(turn.said)))
                letters += (len(words), sum(map(len, words)), sum(word in self.slips for word in words))
                if self.told[turn.said] in self.languages:
                    languages[self.languages[self.told[turn.said]]] += 1
                for word in words:
                    buckets[_word_bucket(word)] += 1
                first.extend(words)
            if len(first) >= _FIRST:
                variety += (1, len(set(first[:_FIRST])) / _FIRST)
        return found

    def means(self, sums: Floats) -> dict[str, float]:
        found = self._means(sums)
        return {name: float(value[0]) for name, value in found.items()}

    def _means(self, sums: Floats) -> dict[str, Floats]:
        lengths, turns, letters, variety, _, buckets = np.split(sums, self._ends[:-1], axis=1)
        words = buckets.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "words": (lengths @ np.arange(_LONGEST + 1.0)) / lengths.sum(axis=1),
                "letters": letters[:, 1] / letters[:, 0],
                "variety": variety[:, 1] / variety[:, 0],
                "repeats": (buckets * (buckets - 1)).sum(axis=1) / (words * (words - 1)),
                "questions": turns[:, 1] / turns[:, 0],
                "courtesy": turns[:, 2] / turns[:, 0],
                "slips": letters[:, 2] / letters[:, 0],
            }

    def distances(self, first: Floats, second: Floats) -> Floats:
        apart: dict[str, Floats] = {
            name: np.abs(mine - theirs)
            for (name, mine), theirs in zip(self._means(first).items(), self._means(second).values())
        }
        one, other = (np.split(side, self._ends[:-1], axis=1) for side in (first, second))
        with np.errstate(invalid="ignore", divide="ignore"):
            curves = [np.cumsum(side[0], axis=1) / side[0].sum(axis=1, keepdims=True) for side in (one, other)]
        apart["words"] = np.abs(curves[0] - curves[1]).max(axis=1)
        apart["languages"] = divergence(one[4], other[4])
        apart["vocabulary"] = divergence(one[5], other[5])
        return np.stack([apart[name] for name in WORDINGS], axis=1)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _word_bucket(word: str) -> int:
    """Return a hash that is the same on every machine, unlike `hash`. Two words in one bucket cost a little power."""
    value = 2166136261
    for byte in word.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value % _BUCKETS


def _find_typing_errors(counted: Mapping[str, int]) -> frozenset[str]:
    """Find words seen once that become a frequent word by removing, adding, replacing or swapping one character."""
    frequent = {word for word, n in counted.items() if n >= _FREQUENT and len(word) >= _SHORTEST}
    # Looked up by what is left of them, because to compare each rare word with each frequent one takes minutes.
    shortened = {left for word in frequent for left in _shortened(word)}
    holed = {left for word in frequent for left in _holed(word)}
    return frozenset(
        word
        for word, n in counted.items()
        if n == 1
        and (
            word in shortened
            or not frequent.isdisjoint(_shortened(word))
            or not holed.isdisjoint(_holed(word))
            or not frequent.isdisjoint(_swapped(word))
        )
    )


def _shortened(word: str) -> Iterator[str]:
    """Yield the word without one character. The last stays: an ending that only says more than one, or when, is
    grammar."""
    without = (word[:place] + word[place + 1 :] for place in range(len(word)))
    return (left for left in without if left != word[:-1])


def _holed(word: str) -> Iterator[str]:
    return (f"{word[:place]}\0{word[place + 1 :]}" for place in range(len(word)))


def _swapped(word: str) -> Iterator[str]:
    return (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))
