"""Counted features of a system turn in its context: lengths, overlaps, repetitions and classes of words.

No feature depends on the meaning of an answer. At most `WINDOW` turns before a turn are used, and only the first
`LONGEST` characters of each.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from topics.late_pattern import lazy_pattern

# Number of turns of both sides before a turn that are used with it.
WINDOW = 20

# Number of turns of both sides that are enough to predict the last of them: a window of latest turns, the first of
# which has a window before it.
CONTEXT = 2 * WINDOW

# Number of characters of a turn that are read.
LONGEST = 4_000


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TOKEN = lazy_pattern(r"[^\W_]+(?:['’][^\W_]+)?|[?!]")
_SENTENCE_END = lazy_pattern(r"[.!?…]\s*$")

_QUESTION_WORDS = _word_set("what who whom whose which when where why how")
_AUXILIARIES = _word_set(
    "is are am was were do does did can could will would shall should have has had may might don't doesn't didn't "
    "isn't aren't can't won't"
)
_YES_NO = _word_set("yes no yeah yep nope yup sure ok okay nah right true")
_GREETINGS = _word_set("hi hello hey bye goodbye greetings")
_FIRST_PERSON = _word_set("i me my mine myself we us our i'm i've i'll i'd im")
_SECOND_PERSON = _word_set("you your yours yourself you're you've you'll u ur")
_THIRD_PERSON = _word_set("he she it they him her them his its their")
_APOLOGY = _word_set("sorry apologize apologise pardon oops")
_COMPLAINT = lazy_pattern(
    r"\b(?:what\?|huh|wtf|nonsense|makes? (?:no|any) sense|not what i|what do you mean|don'?t understand|"
    r"answer (?:me|my|the)|you (?:just|already) said|already (?:told|said)|confus\w{1,8}|weird|strange|stupid|wrong|"
    r"random|off topic|repeat\w{0,4}|not (?:an answer|true|right)|bot|robot)\b",
    re.IGNORECASE,
)
_SAYS_UNKNOWN = lazy_pattern(
    r"\b(?:i )?(?:don|do|can|could|didn)\W?(?:t| not)? (?:know|understand|get it|remember|answer|tell)\b"
    r"|\bno idea\b|\bnot sure\b",
    re.IGNORECASE,
)
_COMMON_WORDS = _word_set(
    """a an the and or but if so of to in on at by for with from as that this these those there here is are am was were
    be been being do does did done have has had can could will would shall should may might must not no yes i you he she
    it we they me my your his her its our their him them us what who which when where why how just very too also than
    then about up out into over all any some s t m re ve ll d don i'm it's that's don't what's you're"""
)

# The counted features, in the order of the columns of `feature_values`.
FEATURES: tuple[str, ...] = (
    "turn number",
    "words (log)",
    "characters a word",
    "content words (log)",
    "share of content words",
    "share of different words",
    "share of the user's content words taken up",
    "share of content words from the user's turn",
    "share of content words from all earlier user turns",
    "share of content words from the last system turn",
    "share of content words never said before",
    "likeness to an earlier turn of its own",
    "earlier turns of its own with the same words",
    "likeness to the user's turn",
    "likeness to an earlier user turn",
    "asks a question",
    "opens with a question word",
    "opens with yes or no",
    "the user asks a question",
    "the user opens with a question word",
    "the user asks yes or no",
    "a question answered by a question",
    "a question without a common content word",
    "says it does not know",
    "says sorry",
    "share of first-person words",
    "share of second-person words",
    "share of third-person words",
    "greets",
    "the user greets",
    "greets unasked",
    "the user's words (log)",
    "words against the user's (log)",
    "words against its last turn (log)",
    "the user complains",
    "complaints so far",
    "the user repeats themself",
    "exclamation marks",
    "share of capitals",
    "opens in lower case",
    "no sentence end",
    "share of digits",
    "share of other characters",
    "sentences",
    "words without letters between blanks",
    "the user's turn is one word",
    "mean likeness to its last turns",
)


@dataclass(frozen=True)
class Utterance:
    """One turn of the system (speaker `S`) or the user (`U`)."""

    speaker: Literal["S", "U"]
    text: str

    @cached_property
    def head(self) -> str:
        """The first `LONGEST` characters of the text, with straight apostrophes."""
        return self.text[:LONGEST].replace("’", "'")

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tuple(_TOKEN.findall(self.head.lower()))

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(token for token in self.tokens if token not in "?!")

    @cached_property
    def kinds(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def content(self) -> frozenset[str]:
        """The set of content words, which excludes the most common words of English."""
        return self.kinds - _COMMON_WORDS

    @cached_property
    def complains(self) -> bool:
        """True if the turn contains words with which users complain about a system."""
        return _COMPLAINT.search(self.head) is not None


def feature_values(turns: Sequence[Utterance], at: int, *, passed: int = 0) -> tuple[float, ...]:
    """Return the values of `FEATURES`, all finite, for the system turn `turns[at]`. Later turns are not used.
    `passed` is the number of turns before the first of `turns`."""
    here = turns[at]
    before = turns[max(0, at - WINDOW) : at]
    users = [turn for turn in before if turn.speaker == "U"]
    own = [turn for turn in before if turn.speaker == "S"]
    user = before[-1] if before and before[-1].speaker == "U" else Utterance("U", "")
    last = own[-1] if own else Utterance("S", "")
    words, text = here.words, here.head
    first, user_first = words[0] if words else "", user.words[0] if user.words else ""
    asks, user_asks = "?" in text, "?" in user.head or user_first in _QUESTION_WORDS
    said: set[str] = set().union(*(turn.content for turn in before))
    user_content: set[str] = set().union(*(turn.content for turn in users))
    alike = [_jaccard(here.kinds, turn.kinds) for turn in own]
    greets, user_greets = bool(here.kinds & _GREETINGS), bool(user.kinds & _GREETINGS)
    length, user_length = math.log1p(len(words)), math.log1p(len(user.words))
    characters = max(1, len(text))
    return (
        float(min((at + passed) // 2, WINDOW // 2)),
        length,
        sum(map(len, words)) / max(1, len(words)),
        math.log1p(len(here.content)),
        len(here.content) / max(1, len(here.kinds)),
        len(here.kinds) / max(1, len(words)),
        _share_of(here.content & user.content, user.content),
        _share_of(here.content & user.content, here.content),
        _share_of(here.content & user_content, here.content),
        _share_of(here.content & last.content, here.content),
        _share_of(here.content - said, here.content),
        max(alike, default=0.0),
        float(sum(words == turn.words for turn in own)),
        _jaccard(here.kinds, user.kinds),
        max((_jaccard(here.kinds, turn.kinds) for turn in users[:-1]), default=0.0),
        float(asks),
        float(first in _QUESTION_WORDS),
        float(first in _YES_NO),
        float(user_asks),
        float(user_first in _QUESTION_WORDS),
        float(user_first in _AUXILIARIES),
        float(asks and user_asks),
        float(user_asks and not here.content & user.content),
        float(_SAYS_UNKNOWN.search(text) is not None),
        float(bool(here.kinds & _APOLOGY)),
        _rate_of(words, _FIRST_PERSON),
        _rate_of(words, _SECOND_PERSON),
        _rate_of(words, _THIRD_PERSON),
        float(greets),
        float(user_greets),
        float(greets and not user_greets),
        user_length,
        length - user_length,
        length - math.log1p(len(last.words)),
        float(user.complains),
        float(sum(turn.complains for turn in users)),
        float(any(user.words and user.words == turn.words for turn in users[:-1])),
        float(min(3, text.count("!"))),
        sum(map(str.isupper, text)) / characters,
        float(text.lstrip()[:1].islower()),
        float(_SENTENCE_END.search(text) is None),
        sum(map(str.isdigit, text)) / characters,
        sum(not (mark.isalnum() or mark.isspace() or mark in ".,?!'") for mark in text) / characters,
        float(min(10, len(re.findall(r"[.!?]+", text)))),
        float(any(not any(map(str.isalnum, word)) for word in text.split())),
        float(len(user.words) == 1),
        sum(alike[-3:]) / max(1, len(alike[-3:])),
    )


def word_grams(turns: Sequence[Utterance], at: int) -> frozenset[str]:
    """Return the words and word pairs of the system turn (prefixed `s:`) and of the previous user turn (`u:`). `^`
    marks the beginning of a turn and `$` its end."""
    tokens = ("^", *turns[at].tokens, "$")
    found = {f"s:{token}" for token in tokens[1:-1]}
    found.update(f"s:{one} {two}" for one, two in pairwise(tokens))
    if at and turns[at - 1].speaker == "U":
        user = ("^", *turns[at - 1].tokens, "$")
        found.update(f"u:{token}" for token in user[1:-1])
        found.update(f"u:{one} {two}" for one, two in pairwise(user))
    return frozenset(found)


def _jaccard(one: frozenset[str], two: frozenset[str]) -> float:
    return len(one & two) / len(one | two) if one or two else 0.0


def _share_of(part: Iterable[str], whole: frozenset[str]) -> float:
    return len(set(part)) / len(whole) if whole else 0.0


def _rate_of(words: Sequence[str], kind: frozenset[str]) -> float:
    return sum(word in kind for word in words) / max(1, len(words))
