"""Faults of turns that a model worded and that were said although they passed the rules for samples.

A sample that passes the rules of `simulators.llm.acceptance` may still mean something else than intended. Here a turn
is compared with the policy's words and gets at most one fault, the first of `FAULTS` that applies. For example, a
turn in another language also misses the intended words, but only the language is reported. Faults do not refuse a
turn; they are counted (`harvest.studies.validity.user_card`). Only lists of words (`simulators.llm.fault_words`) and
word comparisons are used, so other faults are not found.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from protocols.question_words import REQUESTS
from simulators.llm import likeness, prompting, voices
from simulators.llm.acceptance import normalise_letters
from simulators.llm.fault_words import ENDS, LEAKS, SERVES, Speech, speech_patterns
from topics.languages import language_of
from topics.late_pattern import lazy_pattern

# The fault of a turn that the model could not word: the policy's own words were said.
OWN_WORDS: Final = "policy's words"

# Share of the intended words below which a turn is about something else.
_FEW_KEPT = 1 / 3
_SOME_KEPT = 0.5  # of the words that carry the meaning
_NEARLY_ALL = 0.75  # of the words that carry the meaning: a paraphrase changes some

# Words that an answer tells its reader to say; they are in one of the groups.
_ORDERED = lazy_pattern(
    r"\b(?:reply|respond|answer|write|say|output|print|type|repeat|antworte\w*|schreib\w*|sag\w*|responde\w*|escrib\w+"
    r"|di|diga|écri\w+|dites?|répond\w+|scriv\w+|rispond\w+|ответь\w*|напиши\w*|скажи\w*|απάντησ\w+|γράψ\w+|πες|πείτε"
    r"|vastaa\w*|kirjoita\w*|sano\w*)\b[^.!?\n]{0,30}?"
    r"(?:\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|„([^“”\n]{2,200})[“”]|«([^»\n]{2,200})»|'([^'\n]{2,200})'(?!\w)"
    r"|\[([^\]\n]{2,200})\]|[:：]\s+([^\n.!?:]{4,200}))"
    r"|「([^」\n]{2,200})」(?:とだけ|とのみ|と|って)[^。\n]{0,10}(?:言|書|返|答|入力)|(?:说|說|写|寫|回复|回覆)[：:]?\s*[“「]([^”」\n]{2,200})[”」]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A user turn that a model worded.

    - `intended`: the policy's words for the turn, or "" if unknown, as with a free model.
    - `act`: the policy's act.
    - `earlier`: the user's previous turns, each with its intended words ("" if unknown).
    - `answer`: the system's last answer.
    - `need`: the topic's texts.
    - `language`: the ISO code of the language requested of the user, "" if none was requested, or None if unknown.
    - `again`: the acts that repeat a turn.
    - `worded`: as in `recordings.conversations.conversation.Turn`.
    """

    said: str
    intended: str = ""
    act: str = ""
    earlier: tuple[tuple[str, str], ...] = ()
    answer: str = ""
    need: tuple[str, ...] = ()
    language: str | None = ""
    again: tuple[str, ...] = ("repeat",)
    worded: str = ""

    @property
    def granted_words(self) -> tuple[str, ...]:
        """The words that were given to the user, and that the turn may contain."""
        return tuple(words for words in (self.intended, *self.need) if words)

    def is_translated(self) -> bool:
        """True if the turn may be in another language than the policy's words, because a language was requested or
        the request is unknown."""
        if self.language is None:
            return True
        if not self.language:
            return False
        meant = likeness.detect_language_family(self.intended) or likeness.detect_language_family(
            " ".join(self.granted_words)
        )
        return meant != likeness.FAMILY.get(self.language, self.language)

    def words_to_keep(self) -> frozenset[str]:
        """The content words of the policy that the turn should keep."""
        if self.is_translated():
            return frozenset()
        words = likeness.content_tokens(self.intended)
        if self.act in _WITHOUT_THE_NEED:
            words &= _words_of(self.need)
        return words

    def words_of_need(self) -> frozenset[str]:
        """The content words of the request, which a free model should ask for."""
        return frozenset() if self.is_translated() else likeness.content_tokens(next(iter(self.need), "")) - _ASKING

    def copies_answer(self) -> bool:
        """Return True if at least half of the turn's own words come from the answer."""
        own = likeness.content_tokens(self.said) - _words_of(self.granted_words)
        return (
            bool(own)
            and likeness.share_kept(own, likeness.content_tokens(self.answer[: likeness.LONGEST])) >= _SOME_KEPT
        )

    def speech(self) -> Speech:
        """The patterns for the language of the intended words and the turn."""
        texts = (self.intended, " ".join(self.need), self.said)
        return speech_patterns(next(filter(None, map(language_of, texts)), ""))

    def adds_pattern(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the pattern matches the turn's own words but not the intended words."""
        # Another word in their place: "Thanks! Any others?" would be thanks alone.
        said = normalise_letters(_remove_words(self.said[: likeness.LONGEST], self.granted_words, instead=" x "))
        return bool(pattern.search(said)) and not (self.intended and pattern.search(normalise_letters(self.intended)))

    def obeys_order(self) -> bool:
        """Return whether the turn follows an order in the last answer. Such a turn repeats at least two consecutive
        words of the order, or mostly copies the answer."""
        if not self.answer:
            return False
        answer, said = normalise_letters(self.answer[: likeness.LONGEST]), likeness.plain_letters(self.said)
        granted = " ".join(likeness.plain_letters(words) for words in self.granted_words)
        ordered = [
            likeness.plain_letters(next(filter(None, found.groups()), "")) for found in _ORDERED.finditer(answer)
        ]
        if any(len(words) > 3 and f" {words} " in f" {said} " and words not in granted for words in ordered):
            return True
        before = _words_of((*self.granted_words, *(words for words, _ in self.earlier)))
        if any(_says_part_of_order(tuple(said.split()), words, before) for words in ordered):
            return True
        if not (voices.gives_order_to_model(answer) or prompting.contains_sign(answer)):
            return False
        if not self.intended:
            return bool(self.need) and self.copies_answer()
        wanted = self.words_to_keep()
        return (
            bool(wanted)
            and likeness.share_kept(wanted, likeness.content_tokens(self.said)) < _FEW_KEPT
            and self.copies_answer()
        )

    def is_in_other_language(self) -> bool:
        """Return whether the turn is in another language or script than the intended words, if that can be detected."""
        if self.language is None:
            return False
        said = _remove_words(self.said, self.need)
        if self.language:
            told = likeness.detect_language_family(said)
            return bool(told) and told != likeness.FAMILY.get(self.language, self.language)
        meant = self.intended or next(iter(self.need), "")
        scripts = likeness.script_of(said), likeness.script_of(meant)
        if all(scripts) and scripts[0] != scripts[1]:
            return True
        meant = _remove_words(meant, self.need) if self.intended else meant
        told, before = (
            likeness.detect_language_family(said),
            likeness.detect_language_family(meant)
            or likeness.detect_language_family(self.intended)
            or likeness.detect_language_family(" ".join(self.need)),
        )
        return bool(told and before) and told != before

    def repeats(self) -> bool:
        """Return whether the turn is nearly equal to an earlier turn although the intended words differ."""
        if self.act in self.again:
            return False
        alike = [meant for said, meant in self.earlier if likeness.are_similar(self.said, said)]
        return any(not (self.intended and meant and likeness.are_similar(self.intended, meant)) for meant in alike)

    def denies_need(self) -> bool:
        """Return True if the sentence that states the need is negated either in the turn or in the policy's words, but
        not in both."""
        wanted = self.words_to_keep()
        if not wanted:
            return False
        said, meant = _sentences_with(self.said, wanted), _sentences_with(self.intended, wanted)
        if not (said and meant):
            return False
        speech = self.speech()
        if any(_denies_word(one, wanted, speech) if _asks_openly(one) else _denies(one, speech) for one in said):
            return not any(_denies(one, speech) for one in _sentences(self.intended))
        # The reverse only if everything else is kept: "nothing animated" may well be worded as "live action".
        firm = any(_denies(one, speech) for one in meant if not _asks_openly(one))
        kept = likeness.share_kept(wanted, likeness.content_tokens(self.said)) >= _NEARLY_ALL
        return firm and kept and not any(_denies(one, speech) for one in _sentences(self.said))

    def changes_speech_act(self) -> bool:
        """Return whether the turn states something instead of asking or wishing, or asks instead of answering."""
        if not self.intended or self.is_translated():
            return False
        speech = self.speech()
        if not _asks_for(self.intended, speech):
            return self.act in _ANSWERS and _asks_openly(self.said)
        return not _asks_for(self.said, speech) and any(speech.states.search(one) for one in _sentences(self.said))

    def loses_need(self) -> bool:
        """Return whether too few intended words are kept. With a free model, only the first turn can lose the need."""
        wanted = self.words_to_keep() if self.intended or self.earlier else self.words_of_need()
        return len(wanted) >= 2 and likeness.share_kept(wanted, likeness.content_tokens(self.said)) < _FEW_KEPT


def fault_of(turn: UserTurn) -> str:
    """Return the fault of the turn, a name in `FAULTS`, or ""."""
    if turn.intended and likeness.plain_letters(turn.said) == likeness.plain_letters(turn.intended):
        return OWN_WORDS if turn.worded else ""
    return next((name for name, (holds, _) in _RULES.items() if holds(turn)), "")


def share_of_words_kept(turn: UserTurn) -> float:
    """Return the share in [0, 1] of the intended content words that the turn keeps.

    kept = |{w in W: a word of the turn is w, or shares its stem}| / |W|, where W is the set of content words of the
    policy's words. If the act is worded without the need (`more`, `insist`, …), only words that the topic contains
    are in W. For a free model, W has the content words of the need. Returns NaN if W is empty or the turn is in
    another language.
    """
    wanted = turn.words_to_keep() if turn.intended else turn.words_of_need()
    if not wanted or turn.is_in_other_language():
        return math.nan
    return likeness.share_kept(wanted, likeness.content_tokens(turn.said))


def share_of_words_added(turn: UserTurn) -> float:
    """Return the share in [0, 1] of the turn's content words that were not given to the user.

    added = |{w in S: neither the intended words nor the need contain w or its stem}| / |S|, or 0 if S is empty. S is
    the set of content words of the turn, without words that ask for things. For a free model, words of the last
    answer also count as given. Returns NaN if the share cannot be determined, for example in another language.
    """
    if turn.language is None or not turn.granted_words or turn.is_translated() or turn.is_in_other_language():
        return math.nan
    given = turn.granted_words if turn.intended else (*turn.granted_words, turn.answer)
    said = likeness.content_tokens(turn.said) - _ASKING
    return 1 - likeness.share_kept(said, _words_of(given)) if said else 0.0


def log_length_ratio(turn: UserTurn) -> float:
    """Return the log of the number of said words over the number of intended words, or over 1 if none are intended."""
    return math.log(max(1, likeness.count_words(turn.said))) - math.log(max(1, likeness.count_words(turn.intended)))


def _says_part_of_order(said: tuple[str, ...], ordered: str, given: frozenset[str]) -> bool:
    def is_new(word: str) -> bool:
        own = likeness.content_tokens(word)
        return bool(own) and not likeness.share_kept(own, given)

    pairs = {pair for pair in pairwise(ordered.split()) if all(map(is_new, pair))}
    return any(pair in pairs for pair in pairwise(said))


# Words for asking: a reworded request uses other ones.
_ASKING: Final = likeness.content_tokens(
    "please tell show give list name find know look looking need say suggest recommend mention any there another else "
    "thing something anything"
)
_ANSWERS: Final = frozenset({"inform", "no-preference", "confirm", "deny", "correct", "tell"})
# Acts whose words are not those of the need, so few of them must be kept.
_WITHOUT_THE_NEED: Final = frozenset(
    {"more", "detail", "insist", "redirect", "challenge", "justify", "restart", "dismiss", "no-preference", "confirm"}
    | {"deny", "repeat", "rephrase", "simplify", "change"}
)

_Rule = Callable[[UserTurn], bool]
_RULES: Final[Mapping[str, tuple[_Rule, str]]] = MappingProxyType(
    {
        OWN_WORDS: (
            lambda turn: bool(turn.worded),
            "the model had no words that can be sent, so the policy's own were said",
        ),
        "leak": (
            lambda turn: turn.adds_pattern(LEAKS),
            "it speaks of instructions, of a part that is played, or of a test",
        ),
        "obeyed": (
            UserTurn.obeys_order,
            "it does what the system's last answer ordered a model to do, or says the words given there",
        ),
        "assistant": (
            lambda turn: turn.adds_pattern(SERVES) or turn.adds_pattern(voices.ASSISTANT),
            "an assistant's voice: it offers, recommends or delivers",
        ),
        "language": (UserTurn.is_in_other_language, "another language or script than the policy's words"),
        "near-repeat": (UserTurn.repeats, "nearly what the user said before, where the policy meant something else"),
        "negation": (UserTurn.denies_need, "it denies what the policy's words want, or wants what they deny"),
        "farewell": (lambda turn: turn.adds_pattern(ENDS), "it takes leave, or only thanks"),
        "statement": (
            UserTurn.changes_speech_act,
            "it states something where the policy asks, or asks where the policy answers",
        ),
        "need lost": (UserTurn.loses_need, "less than a third of the content words that were meant"),
    }
)
# The faults of a turn by name, in the order of the checks.
FAULTS: Final[Mapping[str, str]] = MappingProxyType({name: what for name, (_, what) in _RULES.items()})


def _remove_words(text: str, given: tuple[str, ...], *, instead: str = " ") -> str:
    for words in sorted(set(filter(None, given)), key=len, reverse=True):
        if len(words) > 3:
            text = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", instead, text, flags=re.IGNORECASE)
    return text


_SENTENCE = re.compile(r"[^.!?。！？;\u037e؟\n]+[.!?。！？;\u037e؟]*")


def _sentences(text: str) -> list[str]:
    return [one.strip() for one in _SENTENCE.findall(text[: likeness.LONGEST]) if any(map(str.isalnum, one))]


def _asks_openly(sentence: str) -> bool:
    plain = sentence.rstrip('"”»)） ')
    return plain.endswith(("?", "？", "؟")) or (
        plain.endswith((";", "\u037e")) and likeness.script_of(sentence) == "greek"
    )


def _asks_for(text: str, speech: Speech) -> bool:
    plain = normalise_letters(text[: likeness.LONGEST])
    openly = any(_asks_openly(one) for one in _sentences(plain))
    return openly or bool(speech.wishes.search(plain) or REQUESTS.search(plain))


def _denies(sentence: str, speech: Speech) -> bool:
    return bool(speech.denies.search(speech.harmless.sub(" ", normalise_letters(sentence))))


def _denies_word(question: str, wanted: frozenset[str], speech: Speech) -> bool:
    """Return whether a wanted word directly follows a denial ("films that are not animated?"). A denial elsewhere in
    a question is polite ("Don't you have animated films?")."""
    plain = speech.harmless.sub(" ", normalise_letters(question))
    ends = (found.end() for found in speech.denies.finditer(plain))
    return any(
        likeness.share_kept(wanted, likeness.content_tokens(next(iter(plain[end:].split()), ""))) for end in ends
    )


def _sentences_with(text: str, wanted: frozenset[str]) -> list[str]:
    return [one for one in _sentences(text) if likeness.share_kept(wanted, likeness.content_tokens(one)) >= _SOME_KEPT]


def _words_of(texts: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(likeness.content_tokens, texts))
