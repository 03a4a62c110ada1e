"""Extraction of nuggets: the interface of extractors, and the extractors that work by rules.

In English text every sentence is split into atomic pieces. A piece that performs a dialogue act is of type O, and
every other piece is a claim (type F). In other languages sentences are not split. Questions and headings are
recognised, and **every other sentence is one nugget of type F** under the rule name `unknown-language`, so that these
nuggets can be counted and excluded. A fenced block of code is one nugget of type F.

If atomic nuggets are not needed, whole sentences, lines or turns can be nuggets instead ([SWAN] §2, note 5).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import Literal, Protocol

from recordings.conversations.conversation import Conversation
from scoring.nuggets import Nugget as Entity
from scoring.swan.acts import FoundAct, act, normalise_marks
from scoring.swan.nugget import Candidate, Nugget, place_nuggets
from scoring.swan.openings import find_opening
from scoring.swan.structure import read_structure
from scoring.words import Passage, UnitChoice, UserWords, passages
from topics.late_pattern import lazy_pattern
from topics.sentences import Sentence, has_word, sentences

_SUBJECT = r"(?:I|you|he|she|it|we|they|this|that|these|those|there)"
_VERB = (
    r"(?:'m|'s|'re|'ve|'d|'ll|\s+(?:am|is|are|was|were|has|have|had|do|does|did|don't|doesn't|didn't|can|can't"
    r"|cannot|could|couldn't|will|won't|would|wouldn't"
    r"|should|may|might|must|isn't|aren't|wasn't|weren't|also|only|just|never|think|know|need|want|like|love|seem"
    r"|seems|apologi[sz]e|hope))\b"
)
_GAP = r"(?:,\s+|(?<![\s,])\s+)"  # starts at the first white space, so that long runs take linear time
_JOINT = lazy_pattern(
    r"(?<!\s)\s*;\s+"
    rf"|{_GAP}(?:because|although|though|whereas|but|while)\s+(?=(?:{_SUBJECT}\b|(?:the|my|your|our|their|its)\s+\w))"
    rf"|{_GAP}(?:as|since)\s+(?={_SUBJECT}{_VERB})"
    rf"|,\s+(?:and|so|yet|however)\s+(?={_SUBJECT}\b)"
    rf"|{_GAP}(?:and|so)\s+(?={_SUBJECT}{_VERB})",
    re.IGNORECASE,
)
_SPLICE = lazy_pattern(rf",\s+(?={_SUBJECT}{_VERB})", re.IGNORECASE)
_BEGINS = lazy_pattern(_SUBJECT + r"\b", re.IGNORECASE)
_COMPARISON = lazy_pattern(r"\bas\s+\w", re.IGNORECASE)
_JOINING = lazy_pattern(r"[\s,;:!.…–—-]*(?:\b(?:but|and|so|because)\b\s+)?", re.IGNORECASE)
_MOST_OPENINGS = 4  # `Well, so, you know, …`
_TWO_WORDS = lazy_pattern(r"\s*\S+\s+\S")


def split_sentence(
    text: str, sentence: Sentence, *, answering: bool = False, whole: bool = False
) -> Iterator[tuple[int, int, FoundAct | None]]:
    """Yield (start, end, act) for each atomic piece of a sentence, in order and without overlaps. No piece is empty.
    `answering` is true if the other side's last turn ended in a question. With `whole`, which is for languages other
    than English, the sentence is not split."""
    start, end = sentence.start, sentence.end
    for _ in range(_MOST_OPENINGS if not whole else 0):
        view = normalise_marks(text[start:end])
        ahead = len(view) - len(view.lstrip())  # emphasis
        found = find_opening(view[ahead:], answering=answering)
        if found is None:
            break
        stop = start + len(text[start : start + ahead + found.length].rstrip())
        joining = _JOINING.match(text, stop, end)
        following = joining.end() if joining else stop
        # A number with a full stop, as in `Yes, 1. It is.`, makes no claim of its own, unless nothing comes after it.
        numbered = any(map(str.isalnum, text[following:end])) and not has_word(text[following:end])
        if numbered and text[end:].strip():
            yield start, end, found
            return
        yield start, stop, found
        start = following
        if not any(map(str.isalnum, text[start:end])):
            return
    spans = [(start, end)] if whole else list(_split_clauses(text, start, end))
    for first, last in spans:
        leads = sentence.leads and last == sentence.end
        yield first, last, act(normalise_marks(text[first:last]), leads=leads, shape=sentence.shape, english=not whole)


def _split_clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    view = normalise_marks(text[start:end])
    first = 0
    # Where a sentence could be split, in order.
    found = {match.start(): match for match in _SPLICE.finditer(view)}
    found.update({match.start(): match for match in _JOINT.finditer(view)})
    joints = [found[place] for place in sorted(found)]
    ends = [*(joint.start() for joint in joints), len(view)][1:]
    for joint, following in zip(joints, ends, strict=True):
        before = view[first : joint.start()]
        if not _TWO_WORDS.match(before) or not _TWO_WORDS.match(view, joint.end()):
            continue
        if not (has_word(before) and has_word(view[joint.end() : following])):
            continue
        if joint[0].strip() == "," and not _BEGINS.match(before):  # If it rains, we stay
            continue
        if "as" in joint[0].lower().split() and _COMPARISON.search(before):  # as close as I am
            continue
        yield start + first, start + first + len(before.rstrip())
        first = joint.end()
    yield start + first, end


# Name and version of the rule extractor; the version is raised whenever the nuggets of a text could change. The
# extractors of sentences and turns share the version, because they use the rules.
RULES = "rules/3"


class Extractor(Protocol):
    """Interface for finding nuggets of types F and O in one side of one turn. A candidate is rejected if it quotes
    text that is not in its span."""

    @property
    def version(self) -> str:
        """The name and version, recorded with every nugget: `rules/3`, or a model with the hash of its prompt."""
        ...

    def candidates(self, passage: Passage, earlier: Sequence[Passage]) -> Iterable[Candidate]:
        """Return the nuggets of `passage`. `earlier` has the preceding passages of the conversation, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class RuleExtractor:
    """Extractor that splits sentences at connecting words and finds acts by patterns, without a model or network. The
    running time is linear in the length of the text."""

    @property
    def version(self) -> str:
        return RULES

    def candidates(self, passage: Passage, earlier: Sequence[Passage]) -> Iterator[Candidate]:
        """Yield the nuggets of `passage` in order."""
        other = next((one for one in reversed(earlier) if one.speaker != passage.speaker), None)
        # A turn that ends in a question is answered, even if quotation marks or brackets follow.
        answering = other is not None and other.text.rstrip(" \t\r\n\"'”’)*_").endswith(("?", "？"))
        english = is_english(passage.text)
        for sentence in sentences(passage.text):
            if sentence.shape == "code":
                yield Candidate(sentence.start, sentence.end, "F", "code")
                continue
            for start, end, found in split_sentence(passage.text, sentence, answering=answering, whole=not english):
                if found is not None:
                    yield Candidate(start, end, "O", found.rule, found.act)
                else:
                    rule = "unknown-language" if not english else "statement" if sentence.shape == "prose" else "item"
                    yield Candidate(start, end, "F", rule)


@dataclass(frozen=True, slots=True)
class WholeTextExtractor:
    """Extractor that treats every whole sentence, or every whole turn, as one nugget ([SWAN] §2, note 5).

    The rules find the atomic pieces of the text. The nugget is a claim (type F) if a piece is a claim. Otherwise, it
    has the dialogue act of its longest piece, or of the first of several longest pieces. A turn without a word has no
    nugget.
    """

    unit: Literal["sentences", "turns"]

    @property
    def version(self) -> str:
        return f"{self.unit}/{RULES.partition('/')[2]}"

    def candidates(self, passage: Passage, earlier: Sequence[Passage]) -> Iterator[Candidate]:
        """Yield the sentences of `passage` in order, or the turn without the white space around it."""
        text = passage.text
        spans = [(len(text) - len(text.lstrip()), len(text.rstrip()))]
        if self.unit == "sentences":
            spans = [(one.start, one.end) for one in sentences(text)]
        starts = [start for start, _ in spans]
        pieces = RuleExtractor().candidates(passage, earlier)
        for count, inside in groupby(pieces, lambda one: bisect_right(starts, one.start)):
            start, end = spans[count - 1]
            main = max(inside, key=lambda one: (one.type == "F", one.end - one.start))
            yield Candidate(start, end, main.type, main.rule, main.act)


@dataclass(frozen=True, slots=True)
class LineExtractor:
    """Extractor that treats every line of an answer as one nugget, without headings and lists of documents
    (`scoring.swan.structure`). A line is a claim (type F) unless the rules find only dialogue acts in it."""

    @property
    def version(self) -> str:
        return f"lines/{RULES.partition('/')[2]}"

    def candidates(self, passage: Passage, earlier: Sequence[Passage]) -> Iterator[Candidate]:
        """Yield the lines of `passage` in order."""
        pieces = list(RuleExtractor().candidates(passage, earlier))
        starts = [one.start for one in pieces]
        for line in read_structure(passage.text).units:
            first = max(0, bisect_right(starts, line.start) - 1)
            # A sentence may go on from the line before.
            inside = [one for one in pieces[first : bisect_left(starts, line.end)] if one.end > line.start]
            claim = Candidate(line.start, line.end, "F", "line")
            main = max(inside, key=lambda one: (one.type == "F", one.end - one.start), default=claim)
            yield replace(main, start=line.start, end=line.end)


_BUILT_IN: tuple[Extractor, ...] = (
    *(RuleExtractor(), LineExtractor()),
    *(WholeTextExtractor("sentences"), WholeTextExtractor("turns")),
)
# The extractors that need no layer of nuggets, by name and by name with version.
BUILT_IN_EXTRACTORS: Mapping[str, Extractor] = MappingProxyType(
    {name: one for one in _BUILT_IN for name in (one.version.partition("/")[0], one.version)}
)


def extract_nuggets(
    conversation: Conversation,
    extractor: Extractor | None = None,
    entities: Iterable[Entity] = (),
    choice: UnitChoice = "by-script",
    user_words: UserWords = "counted",
) -> tuple[Nugget, ...]:
    """Return the nuggets of both sides in reading order, types F and O by `extractor` (default: the rules).

    The `entities`, from `scoring.nuggets.find_nuggets`, become nuggets of type E. An entity whose link is outside the
    text has the span (-1, -1) and the position of the last word of its turn. `choice` selects the unit of positions,
    and `user_words` whether positions count the words of user turns. Raises ValueError for invalid nuggets.
    """
    extractor = extractor or RuleExtractor()
    links: dict[int, list[Entity]] = {}
    for entity in entities:
        links.setdefault(entity.turn, []).append(entity)
    found: list[Nugget] = []
    earlier: list[Passage] = []
    for passage in passages(conversation, choice, user_words):
        here = links.get(passage.turn, []) if passage.speaker == "system" else []
        inside = [Candidate(one.start, one.end, "E", "entity", entity=one.entity) for one in here if one.in_text]
        own = [*extractor.candidates(passage, tuple(earlier))]
        if any(one.type == "E" for one in own):
            raise ValueError(f"the extractor {extractor.version} returned an entity; it must return only types F and O")
        placed = [
            *place_nuggets(passage, own, version=extractor.version),
            *place_nuggets(passage, inside, version="urls/1"),
        ]
        found += sorted(placed, key=lambda one: (one.start, one.end, one.type))
        found += [
            Nugget(passage.turn, "system", -1, -1, "", one.position, "E", "entity", "urls/1", entity=one.entity)
            for one in here
            if not one.in_text
        ]
        earlier.append(passage)
    return tuple(found)


def act_key(text: str, *, answering: bool = False) -> str:
    """Return the acts of a turn in order, with `F` for claims, as in `APOLOGY+REJECT+F`. Turns without nuggets have
    "".

    Immediate repetitions are left out. Turns with equal keys can be merged under the version `RULES`. `answering` is
    true if the other side's last turn ended in a question.
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
_MOST_CHARACTERS = 4000  # characters, enough to recognise a language
_FEW_WORDS = 4
_COMMON_WORD_RATE = 12


def is_english(text: str) -> bool:
    """Return whether the rules for English apply: Latin letters, and at least one common English word in twelve. Up
    to four words need only Latin letters without accents: `Hola amigo` passes, but its nuggets are claims in any
    language."""
    words = _TOKEN.findall(_CODE.sub(" ", text[:_MOST_CHARACTERS]))
    if not words:
        return True
    letters = "".join(words)
    ascii_letters = sum(letter.isascii() or letter in "’" for letter in letters)
    if 20 * ascii_letters < 19 * len(letters):
        return False
    known = sum(word.lower().replace("’", "'").partition("'")[0] in _FUNCTION_WORDS for word in words)
    return len(words) <= _FEW_WORDS or known * _COMMON_WORD_RATE >= len(words)
