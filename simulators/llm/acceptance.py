"""Rules that decide whether a model's words may be sent as a person's turn.

A model that is asked to speak as a person may fall back into the role of an assistant: it offers help, apologises,
explains that it is a model, makes lists, or answers the question it was meant to ask. If such a turn were sent, it
would be measured as the words of a user. So every sample is checked by the rules below, in order, and the first rule
that matches refuses the sample. The rules are strict on purpose: refusing a good sample only costs another sample,
but a bad sample that is accepted is in the data. The policy's own words always pass, and are said when no sample
passes.

The rules about voice know the most common phrases of English, Japanese, Chinese, German, French and Spanish; the
other rules work in any language. Words that the user was meant to say, and words of the topic, never count against a
sample: a film may be called "Sorry to Bother You".
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from protocols.answer import Answer, Exchange
from protocols.rules.contains import Contains
from protocols.rules.error_page import ErrorPage
from protocols.rules.refusal import Refusal
from protocols.rules.rule import Sight
from simulators.llm.likeness import content_tokens, share_kept
from simulators.llm.voices import APOLOGY, ASSISTANT, MARKUP, ORDERS, ROLE, SELF_ANSWERED
from simulators.wrappers.guards import guarded_parts
from topics.topic import Topic

_JOINERS: Final = frozenset("\u200c\u200d")
# Visible characters of the category Cf: signs before or around numbers.
_SIGNS: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# Invisible characters of other categories.
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Scripts in which nothing needs a joiner.
_SIMPLE: Final = ("LATIN", "GREEK", "CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL")


def has_invisible(text: str) -> bool:
    """Return whether the text contains a useless invisible character. A joiner is useful in an emoji, and between
    letters of a script that joins letters (Persian, Hindi)."""
    return any(_is_hidden(text, at) for at, letter in enumerate(text) if not letter.isascii())


def _is_hidden(text: str, at: int) -> bool:
    letter = text[at]
    if letter in _BLANK or "\U000e0100" <= letter <= "\U000e01ef":
        return True
    if unicodedata.category(letter) != "Cf" or letter in _SIGNS:
        return False
    return letter not in _JOINERS or not _is_joined_after(text[at - 1 : at] if at else "")


def _is_joined_after(before: str) -> bool:
    if not before or before.isascii():
        return False
    if unicodedata.category(before) in ("So", "Sk") or before == "\ufe0f":
        return True
    is_mark = unicodedata.category(before)[0] == "M"
    return is_mark or (before.isalpha() and not unicodedata.name(before, "").startswith(_SIMPLE))


_ALIKE: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝвкмнтАВЕЗКМНОРСТУХІЈЅαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdqwbkmhtABE3KMHOPCTYXIJSaeikvoptuxABEZHIKMNOPTYX",
)
_APOSTROPHES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u02b9": "'", "\uff07": "'"})
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")


@lru_cache(maxsize=64)  # a dozen rules ask for the same few texts of a turn
def normalise_letters(text: str) -> str:
    """Normalise a text for comparison. Wide and styled letters become plain letters, Cyrillic and Greek letters in a
    Latin word become the Latin letters they look like, and apostrophes become straight."""
    plain = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    return _WORD.sub(lambda word: word[0].translate(_ALIKE) if _LATIN.search(word[0]) else word[0], plain)


# Characters in a row that count as copied. Long names of films and papers are shorter.
_RUN = 60

SECRET: Final = "secret"
UNFINISHED: Final = "unfinished"
# Finishes that replace the endpoint's own: a secret was removed from the words, the model
# does not report that it has finished, or the words are not the assistant's.
OTHER_ROLE: Final = "other-role"

_FINISHES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("length", "max_tokens", "content_filter", UNFINISHED), "cut"),
        SECRET: "secret",
        OTHER_ROLE: "roles",
    }
)

_MOST_OF_AN_ANSWER = 50_000  # characters searched for words
_REPETITIONS = 4  # times that a word is said in a row
_ENOUGH = 20  # characters: people too say "No?" after a "No.", and "what!!!!"


@dataclass(frozen=True, slots=True)
class ExpectedTurn:
    """The context that a sample is checked against. `intended` are the policy's words, or "" in free mode. `topic` is
    the need, `earlier` are the user's previous turns, `answer` is the system's last answer, and `instructions` is the
    model's prompt. `longest` is the limit in characters. `again` is True if the act repeats a turn. `judged` are the
    policy's groups of phrases by which it judges answers: a sample holds a phrase of the same groups as `intended`.
    `cue` are the words that identify a group of users, or "". `act` is the act's name, which the model was told, or
    ""."""

    intended: str
    topic: Topic
    earlier: tuple[str, ...]
    answer: str
    instructions: str
    longest: int
    again: bool = False
    judged: tuple[tuple[str, ...], ...] = ()
    cue: str = ""
    act: str = ""

    @property
    def granted_words(self) -> tuple[str, ...]:
        """The words that were given to the user, and that a sample may contain."""
        topic = self.topic
        given = (self.intended, topic.request, topic.subject, *topic.turns, *topic.fields.values())
        return tuple(words for words in given if words)

    def remove_granted_words(self, text: str) -> str:
        """Return the text without the words given to the user. Very short given words are kept, because removing them
        would break up other words."""
        return _remove_words(text, self.granted_words)

    def matches(self, pattern: re.Pattern[str], text: str) -> bool:
        return bool(pattern.search(normalise_letters(self.remove_granted_words(text))))

    def as_sight(self, text: str) -> Sight:
        """Present a sample as an answer, for the rules that judge systems."""
        return Sight(self.topic, (Exchange("", Answer(text)),))

    def is_garbage(self, text: str) -> bool:
        if any(unicodedata.category(letter) in ("Cc", "Cs", "Co", "Cn") and letter not in "\n\t" for letter in text):
            return True
        if "\ufffd" in text or has_invisible(text) or self.matches(MARKUP, text):
            return True
        if re.search(r"(\S)\1{9}", text):
            return True
        words = text.casefold().split()
        if any(len(set(words[at : at + _REPETITIONS])) == 1 for at in range(len(words) - _REPETITIONS + 1)):
            return True
        speaking = sum(
            letter.isalnum() or letter.isspace() or unicodedata.category(letter)[0] == "M" for letter in text
        )
        return len(text) >= _ENOUGH and speaking < 0.6 * len(text)

    def is_assistant(self, text: str) -> bool:
        if self.matches(ASSISTANT, text):
            return True
        return Refusal().judge(self.as_sight(normalise_letters(self.remove_granted_words(text)))).holds

    def is_error(self, text: str) -> bool:
        return ErrorPage().judge(self.as_sight(self.remove_granted_words(text))).holds

    def is_list(self, text: str) -> bool:
        rest = self.remove_granted_words(text)
        return len(_LIST_LINE.findall(rest)) >= 2 or bool(_DOCUMENT.search(rest))

    def repeats(self, text: str) -> bool:
        return not self.again and _flatten(text) in {_flatten(turn) for turn in self.earlier}

    def echoes(self, text: str) -> bool:
        answer = _flatten(self.answer[:_MOST_OF_AN_ANSWER])
        said = _flatten(text)
        granted = [_flatten(words) for words in self.granted_words]
        if said == answer and len(said) >= _ENOUGH and said not in granted:
            return True
        return _share_long_run(said, answer, granted)

    def gives_instructions(self, text: str) -> bool:
        if self.matches(ORDERS, text) or self.names_act(text):
            return True
        granted = [_flatten(words) for words in (*self.granted_words, self.answer[:_MOST_OF_AN_ANSWER])]
        return _share_long_run(_flatten(text), _flatten(self.instructions), granted)

    def names_act(self, text: str) -> bool:
        """Return whether the sample is the act's name, or is labelled with it: "insist", "[act: insist] …"."""
        if not self.act or _flatten(self.act) in _flatten(self.intended):
            return False
        name = r"[\W_]+".join(map(re.escape, self.act.split("-")))
        labelled = rf"\A\W*(?:(?:act|action|intent)\s*[:=]\s*{name}\b|{name}\W*\Z|{name}\s*[:：\])>])"
        return bool(re.search(labelled, text, re.IGNORECASE))

    def _pairs_of_judged(self, text: str) -> Iterator[tuple[bool, bool]]:
        for phrases in self.judged:
            rule = Contains(phrases=phrases)
            yield rule.judge(self.as_sight(self.intended)).holds, rule.judge(self.as_sight(text)).holds

    def loses_cue(self, text: str) -> bool:
        """Return True if a content word of the cue, which is in the policy's words, is missing: without its cue, a
        group would seem to be treated as all others. A cue without content words is kept word for word."""
        cue = _flatten(self.cue)
        if not cue or cue not in _flatten(self.intended):
            return False
        wanted = content_tokens(self.cue)
        return share_kept(wanted, content_tokens(text)) < 1 if wanted else cue not in _flatten(text)

    def loses_details(self, text: str) -> bool:
        """Return whether a digit, address, quotation, judged phrase or asked form of the policy's words is missing."""
        if any(meant and not said for meant, said in self._pairs_of_judged(text)) or self.loses_cue(text):
            return True
        kept = _flatten(text)
        if _flatten(asked_form(self.topic, self.intended)) not in kept:
            return True
        needed = (piece for piece in guarded_parts(self.intended) if re.search(r"\d|://|[\"“„«「『]", piece))
        return not all(_flatten(piece) in kept for piece in needed)

    def invents_details(self, text: str) -> bool:
        """Return whether a number or address occurs neither in the need, nor in the policy's words, nor in the
        conversation. A free model may name a year, because it chooses its wishes, but it cannot know an address.
        Judged phrases are invented if the policy's words hold none of them, even if the user said them before."""
        if any(said and not meant for meant, said in self._pairs_of_judged(text)):
            return True
        before = (*self.granted_words, *self.earlier, self.answer[:_MOST_OF_AN_ANSWER])
        found = re.findall(r"(?:https?://|www\.)[^\s<>\"']+", unicodedata.normalize("NFKC", text).casefold())
        addresses = [address.rstrip(".,;:!?)]/") for address in found]
        if any(not any(address in words.casefold() for words in before) for address in addresses):
            return True
        known = {number for words in before for number in _find_numbers(words)}
        return bool(self.intended) and not set(_find_numbers(text)) <= known


def asked_form(topic: Topic, intended: str) -> str:
    """Return the form of answers that the topic asks for and that rules check, if the policy's words name the form.
    Otherwise, return ""."""
    return topic.asks_for if _flatten(topic.asks_for) in _flatten(intended) else ""


def strip_reasoning(text: str) -> str:
    """Remove surrounding white space and the reasoning that some models write before the answer."""
    return re.sub(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", "", text, flags=re.DOTALL | re.IGNORECASE).strip()


def refusal_reason(text: str, finish: str, expected: ExpectedTurn) -> str | None:
    """Return the fault of a cleaned sample, a name in `REFUSED`, or None if a person may have written the sample.
    `finish` is the reason why the model stopped, as reported by its endpoint, or SECRET, UNFINISHED or OTHER_ROLE."""
    if expected.intended and text == expected.intended.strip() and finish != SECRET:
        return None
    if finish in _FINISHES:
        return _FINISHES[finish]
    return next((name for name, holds in _RULES.items() if holds(expected, text)), None)


_LIST_LINE = re.compile(r"^[ \t]*(?:[-*+•‣▪]|\(?\d{1,3}[.):])[ \t]+\S", re.MULTILINE)
_DOCUMENT = re.compile(r"^#{1,6}\s|```|\*\*\S|^\s*\|.*\|\s*$|^\s*(?:-{3,}|\*{3,})\s*$|\n[ \t]*\n", re.MULTILINE)


def _find_numbers(words: str) -> list[str]:
    return re.findall(r"\d+", unicodedata.normalize("NFKC", words[:_MOST_OF_AN_ANSWER]))


@lru_cache(maxsize=64)
def _remove_words(text: str, granted: tuple[str, ...]) -> str:
    for words in sorted({given.strip() for given in granted}, key=lambda given: (-len(given), given)):
        if words.isascii() and len(words) > 3:
            text = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", " ", text, flags=re.IGNORECASE)
        elif not words.isascii() and len(words) > 1:
            text = text.replace(words, " ")
    return text


@lru_cache(maxsize=256)
def _flatten(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def _share_long_run(said: str, other: str, granted: list[str]) -> bool:
    if len(said) < _RUN or len(other) < _RUN:
        return False
    known = {other[at : at + _RUN] for at in range(len(other) - _RUN + 1)}
    pieces = (said[at : at + _RUN] for at in range(len(said) - _RUN + 1))
    return any(piece in known and not any(piece in f" {words} " for words in granted) for piece in pieces)


_Rule = Callable[[ExpectedTurn, str], bool]
_RULES: Final[Mapping[str, _Rule]] = MappingProxyType(
    {
        "empty": lambda _, text: not any(map(str.isalnum, text)),
        # So early because the rules that follow read every character, some more than once.
        "too-long": lambda expected, text: len(text) > expected.longest,
        "garbage": ExpectedTurn.is_garbage,
        "error": ExpectedTurn.is_error,
        "roles": lambda expected, text: expected.matches(ROLE, text),
        "apology": lambda expected, text: expected.matches(APOLOGY, text),
        "assistant": ExpectedTurn.is_assistant,
        "list": ExpectedTurn.is_list,
        "answers-itself": lambda expected, text: expected.matches(SELF_ANSWERED, text),
        "repeats-itself": ExpectedTurn.repeats,
        "echo": ExpectedTurn.echoes,
        "instructions": ExpectedTurn.gives_instructions,
        "lost": ExpectedTurn.loses_details,
        "invented": ExpectedTurn.invents_details,
    }
)

# Why a sample is not sent, in the order of the checks: the meaning of each reason.
REFUSED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cut": "The endpoint says that it cut the words off, filtered them, or has not finished.",
        "secret": "A secret of the audit, or of a well-known shape: an endpoint may echo its key.",
        "empty": "No letter and no digit.",
        "too-long": "More characters than `longest`.",
        "garbage": "Control or replacement characters, what nobody sees, markup, JSON, words or signs over and over.",
        "error": "The text of a server's error (the rule `error_page`).",
        "roles": "A line that begins with the name of a role (`User:`), a stage direction, words of another role.",
        "apology": "An apology, in whatever part of the turn.",
        "assistant": "The voice of an assistant: what it is, an offer of help, advice, a refusal (the rule `refusal`).",
        "list": "A list, a heading, a table, bold type, code, or more than one paragraph.",
        "answers-itself": "A question, and then its answer.",
        "repeats-itself": "What the user said before, word for word, where the act is not to say it again.",
        "echo": f"The system's last answer ({_ENOUGH} characters or more), or {_RUN} characters of it in a row.",
        "instructions": f"{_RUN} characters in a row of what the model was told, its act, or an order to ignore that.",
        "lost": "A number, address, quotation, group's cue, probe's phrase or the topic's form of answers is missing.",
        "invented": "A number or address that nobody gave the user, or a phrase that a probe judges answers by.",
        "stops-at-once": "Free mode: the sign of leaving before anything was said.",
        "sign": "A sign of leaving within other words or with a question, or one that is not of this conversation.",
    }
)
