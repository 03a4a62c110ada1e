"""The newsroom: an assistant that answers questions of a table, and shows sources by a known law.

In each answer, every source is shown or not by a draw of its own. Its chance follows a power law over the places of the
sources in their table, changed by the assistant's preferences and by the question. So the chance that an answer shows a
source, an owner or a kind, and the share of all sources shown that are one's, are known exactly.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from protocols.answer import Answer
from topics.arrays import Floats
from topics.identity import generator
from topics.source_table import SourceEntry, SourceTable
from topics.topic import QUESTION, Topic

_CAP = 0.97  # the largest chance of one source

# What the newsroom says, by language: its opening, the words before a source, an answer without one, and no answer.
_WORDS: Mapping[str, tuple[str, str, str, str]] = MappingProxyType(
    {
        "en": (
            "Here is what is reported.",
            "as {} reports",
            "Nothing certain is known about that yet.",
            "I'm sorry, but I can't help you with that.",
        ),
        "de": (
            "Folgendes wird berichtet.",
            "wie {} berichtet",
            "Sicheres ist darüber noch nicht bekannt.",
            "Das kann ich leider nicht beantworten.",
        ),
    }
)
# The country whose sources an assistant prefers in a language, as tables of sources name it.
_HOME = MappingProxyType({"en": "United Kingdom of Great Britain and Northern Ireland", "de": "Germany"})


@dataclass(frozen=True, slots=True)
class Law:
    """What an assistant shows.

    - `exponent`: of the power law over the sources' places in their table.
    - `shown`: the expected number of sources of an answer, before chances are capped at .97.
    - `favours`: factors of chances by column and group of the table of sources.
    - `at_home`: the factor for sources of the country of the question's language.
    - `from_week`, `later`: the week from which on the factors `later` replace `favours`; 0 for never.
    - `spread`: the standard deviation of the logarithms of a question's own factors, which are the same for every
      assistant.
    - `declines`: the chance that an answer declines and shows nothing.
    """

    exponent: float = 1.0
    shown: float = 3.0
    favours: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    at_home: float = 1.0
    from_week: int = 0
    later: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    spread: float = 0.7
    declines: float = 0.05


LAWS: Mapping[str, Law] = MappingProxyType(
    {
        "plain": Law(),
        "partial": Law(favours={"owner": {"Lantern Group": 2.5}}),
        "local": Law(at_home=4.0),
        "drifting": Law(from_week=3, later={"kind": {"authority": 0.4}}),
    }
)


@dataclass(frozen=True)  # without slots, for cached properties
class Newsroom:
    """An assistant that knows the `questions` and the sources of `table`, and shows them by `law` in a given week."""

    questions: Sequence[Topic]
    table: SourceTable
    law: Law
    week: int = 1

    @cached_property
    def sources(self) -> tuple[SourceEntry, ...]:
        return tuple(self.table.entries.values())

    @cached_property
    def _asked(self) -> tuple[tuple[str, Topic, str], ...]:
        """The questions in every language that the newsroom speaks, longest first."""
        found = [
            (_fold(text), topic, language)
            for topic in self.questions
            for language in _WORDS
            if (text := topic.request if language == "en" else topic.translations.get(language, {}).get(QUESTION))
        ]
        return tuple(sorted(found, key=lambda one: -len(one[0])))

    def find(self, said: str) -> tuple[Topic, str] | None:
        """Return the question in a user's turn and its language, or None."""
        folded = _fold(said)
        return next(((topic, language) for text, topic, language in self._asked if text in folded), None)

    def chances(self, question: str, language: str) -> Floats:
        """Return the chance of each source (S,) in an answer that does not decline."""
        rng = generator(0, "newsroom", question)  # a question suits the same sources for every system
        factors = np.exp(self.law.spread * rng.standard_normal(len(self.sources)))
        weights = factors / np.arange(1, len(self.sources) + 1) ** self.law.exponent
        favours = self.law.later if 0 < self.law.from_week <= self.week else self.law.favours
        for place, source in enumerate(self.sources):
            for column, groups in favours.items():
                weights[place] *= groups.get(source.groups.get(column, ""), 1.0)
            if source.groups.get("country") == _HOME[language]:
                weights[place] *= self.law.at_home
        chances: Floats = np.minimum(_CAP, self.law.shown * weights / weights.sum())
        return chances

    def answer_share(self, belongs: Callable[[SourceEntry], bool], language: str) -> float:
        """Return the share of answers that show at least one source which `belongs`, over all questions."""
        inside = np.array([belongs(source) for source in self.sources])
        none = [math.prod((1.0 - self.chances(one.id, language)[inside]).tolist()) for one in self.questions]
        return (1.0 - self.law.declines) * (1.0 - math.fsum(none) / len(none))

    def source_share(self, belongs: Callable[[SourceEntry], bool], language: str) -> float:
        """Return the share of the sources shown in answers which `belongs`, over all questions."""
        inside = np.array([belongs(source) for source in self.sources])
        each = np.array([self.chances(one.id, language) for one in self.questions])
        return float(each[:, inside].sum() / each.sum())

    def answer(self, text: str, rng: np.random.Generator) -> Answer:
        """Return the answer to one user turn."""
        found = self.find(text)
        if found is None:
            return Answer.of(_WORDS["en"][2])
        topic, language = found
        opening, reports, nothing, declined = _WORDS[language]
        if rng.random() < self.law.declines:
            return Answer.of(declined)
        chances = self.chances(topic.id, language)
        shown = np.flatnonzero(rng.random(len(chances)) < chances)
        if not len(shown):
            return Answer.of(nothing)
        order = shown[np.argsort(rng.exponential(size=len(shown)) / chances[shown])]
        titles = [self.sources[place].domain.partition(".")[0].capitalize() for place in order]
        links = [f"[{title}]({self._page(place, topic, language)})" for title, place in zip(titles, order, strict=True)]
        said_by = "; ".join(reports.format(link) for link in links)
        return Answer.of(f"{opening} {said_by[0].upper()}{said_by[1:]}.")

    def _page(self, place: int, topic: Topic, language: str) -> str:
        return f"https://{self.sources[place].domain}/{language}/{topic.type.name}/{topic.id.lower()}"


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(" .?!")
