"""Extraction of nuggets: the seam for extractors, and the one that works by rules.

    Extractor             the seam: proposes candidates for one side of one turn
    RuleExtractor         transparent rules; English first
    extracted(…)          the nuggets of a conversation, checked and placed, user turns included

In English text every sentence is split into atomic pieces; a piece that performs a dialogue act is type O, every other
piece is a claim, type F. In text that is not English the rules for acts do not fire (apart from question marks and
headings) and no sentence is split: **what no rule knows is one nugget of type F for each sentence**, under the rule
name `unknown-language`, so that it can be counted and set aside. A fenced block of code is one nugget of type F.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from recordings.conversations.conversation import Conversation
from scoring.lengths import UnitChoice
from scoring.nuggets import Nugget as Entity
from scoring.swan.clauses import pieces
from scoring.swan.nugget import Candidate, Nugget, place_nuggets
from scoring.words import Passage, passages
from topics.sentences import sentences

RULES = "rules/2"
"""Name and version of the rule extractor: raised whenever the same text could give other nuggets."""


class Extractor(Protocol):
    """Proposes the nuggets of types F and O in one side of one turn.

    What it returns is checked by `scoring.swan.nugget.place_nuggets`: a model that quotes what was not said is refused.
    """

    @property
    def version(self) -> str:
        """Name and version, as it stands on every nugget: `rules/2`, or a model with its prompt's hash."""
        ...

    def candidates(self, passage: Passage, earlier: Sequence[Passage]) -> Iterable[Candidate]:
        """The nuggets of `passage`; `earlier` is what was exchanged before it, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class RuleExtractor:
    """Sentences, split at connecting words, with acts by patterns. No model, no network, linear in the text."""

    @property
    def version(self) -> str:
        return RULES

    def candidates(self, passage: Passage, earlier: Sequence[Passage]) -> Iterator[Candidate]:
        """The nuggets of `passage`, in order."""
        other = next((one for one in reversed(earlier) if one.speaker != passage.speaker), None)
        answering = other is not None and _asks(other.text)
        english = is_english(passage.text)
        for sentence in sentences(passage.text):
            if sentence.shape == "code":
                yield Candidate(sentence.start, sentence.end, "F", "code")
                continue
            for start, end, found in pieces(passage.text, sentence, answering=answering, whole=not english):
                if found is not None:
                    yield Candidate(start, end, "O", found.rule, found.act)
                else:
                    rule = "unknown-language" if not english else "statement" if sentence.shape == "prose" else "item"
                    yield Candidate(start, end, "F", rule)


def extract_nuggets(
    conversation: Conversation,
    extractor: Extractor | None = None,
    entities: Iterable[Entity] = (),
    choice: UnitChoice = "by-script",
) -> tuple[Nugget, ...]:
    """The nuggets of both sides, in reading order, those of types F and O by `extractor` (the rules where None).

    entities: what `scoring.nuggets.find_nuggets` found; they come as type E, and one whose link stands outside the
    text keeps the span -1, -1 and the position of its turn's last word. choice: of the unit of positions. Raises
    ValueError for what cannot be.
    """
    extractor = extractor or RuleExtractor()
    links: dict[int, list[Entity]] = {}
    for entity in entities:
        links.setdefault(entity.turn, []).append(entity)
    found: list[Nugget] = []
    earlier: list[Passage] = []
    for passage in passages(conversation, choice):
        here = links.get(passage.turn, []) if passage.speaker == "system" else []
        inside = [Candidate(one.start, one.end, "E", "entity", entity=one.entity) for one in here if one.in_text]
        own = [*extractor.candidates(passage, tuple(earlier))]
        if any(one.type == "E" for one in own):
            raise ValueError(f"the extractor {extractor.version} returned an entity: those are found by their URL")
        found += _merged(
            place_nuggets(passage, own, version=extractor.version), place_nuggets(passage, inside, version="urls/1")
        )
        found += [
            Nugget(passage.turn, "system", -1, -1, "", one.position, "E", "entity", "urls/1", entity=one.entity)
            for one in here
            if not one.in_text
        ]
        earlier.append(passage)
    return tuple(found)


def _merged(*parts: tuple[Nugget, ...]) -> list[Nugget]:
    return sorted((one for part in parts for one in part), key=lambda one: (one.start, one.end, one.type))


def act_key(text: str, *, answering: bool = False) -> str:
    """What a turn does, as a key for merging turns: its acts in order, neighbours that are equal once, `F` for claims.

    For example `APOLOGY+REJECT+F`; "" for a text without nuggets. answering: the other side's last words were a
    question. The key's version is `RULES`.
    """
    passage = Passage(1, "system", text, 0, len(text.split()))
    before = [Passage(1, "user", "?", 0, 1)] if answering else []
    keys: list[str] = []
    for one in RuleExtractor().candidates(passage, before):
        key = one.act or "F"
        if not keys or keys[-1] != key:
            keys.append(key)
    return "+".join(keys)


_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        "the a an is are was were am be been to of in on at for from with by and or but not no yes you your i my me we "
        "our it its he she they them this that these those there here what who how why when where which do does did "
        "can could will would should have has had if so as about than then let don please thanks hello hi ok okay",
    )
)
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CODE = re.compile(r"https?://\S+|`[^`\n]*`")
_LOOK = 4000  # characters: enough to tell a language by
_FEW = 4
_ONE_IN = 12


def is_english(text: str) -> bool:
    """Whether the rules for English are tried on a turn: Latin letters, and one common English word in twelve.

    A turn of fewer than five words needs Latin letters without accents only, so `Hola amigo` passes; its nuggets are
    claims either way. Language is told by turn, not by sentence.
    """
    words = _TOKEN.findall(_CODE.sub(" ", text[:_LOOK]))
    if not words:
        return True
    letters = "".join(words)
    ascii_letters = sum(letter.isascii() or letter in "’" for letter in letters)
    if 20 * ascii_letters < 19 * len(letters):
        return False
    known = sum(word.lower().replace("’", "'").partition("'")[0] in _FUNCTION_WORDS for word in words)
    return len(words) <= _FEW or known * _ONE_IN >= len(words)


def _asks(text: str) -> bool:
    """Whether the last words are a question."""
    return text.rstrip(" \t\r\n\"'”’)*_").endswith(("?", "？"))
