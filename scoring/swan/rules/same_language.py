"""`same_language`: whether a turn is in the user's language, or in the language that the user asked for."""

import re
from collections.abc import Iterator

from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import Rule, Sight, Verdict
from topics.late_pattern import lazy_pattern

_COMMON_WORDS = {
    "English": "the and is are was to of in that it you for with this have be not can what how where when will would "
    "my your do does from at on or by if me please there about",
    "German": "der die das und ist nicht ein eine zu mit sie ich auf für den dem des im von wie kann wo wird auch "
    "sich war oder bei als wenn es dass am aus hat einen sind",
    "French": "le la les et est une un des pour dans que qui pas vous je il elle sur avec au du ce est-ce où en à "
    "par plus faut si nous sont ne se",
    "Spanish": "el la los las y es una un de que en para por con no se lo del al puede dónde como más su está son qué "
    "pero este cuál mi",
    "Italian": "il la gli e è un una di che per non con si lo del della nel sono questa questo dove come più ci sarà "
    "puoi mi i le al",
    "Portuguese": "o os as e é um uma de que para por com não se do da no na em onde posso como mais são está você meu",
    "Dutch": "de het een en is van niet dat ik je met voor op te zijn er maar ook waar kan wat hoe naar of bij aan",
    "Swedish": "och det att är en ett som jag på inte för med den av till kan var hur vad om från har de",
}
_SCRIPTS = (
    ("Japanese", lazy_pattern(r"[\u3040-\u30ff]")),
    ("Korean", lazy_pattern(r"[\uac00-\ud7af]")),
    ("Chinese", lazy_pattern(r"[\u4e00-\u9fff]")),
    ("Russian", lazy_pattern(r"[\u0400-\u04ff]")),
    ("Greek", lazy_pattern(r"[\u0370-\u03ff]")),
    ("Arabic", lazy_pattern(r"[\u0600-\u06ff]")),
    ("Hebrew", lazy_pattern(r"[\u0590-\u05ff]")),
    ("Hindi", lazy_pattern(r"[\u0900-\u097f]")),
    ("Thai", lazy_pattern(r"[\u0e00-\u0e7f]")),
)
# The languages that are recognised. A script stands for its most common language: Cyrillic for Russian, for example.
LANGUAGES = (*_COMMON_WORDS, *(name for name, _ in _SCRIPTS))
_KNOWN = {name: frozenset(words.split()) for name, words in _COMMON_WORDS.items()}
_WORD = lazy_pattern(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ASKED = lazy_pattern(
    r"\b(?:translate|answer|reply|respond|write|speak|continue|summari[sz]e|explain|tell)\b[^?.!\n]{0,60}?\b(?:in|into|to)\s+"
    rf"(?P<language>{'|'.join(LANGUAGES)})\b",
    re.IGNORECASE,
)
_NOT_ASKED = lazy_pattern(r"\b(?:don't|do\s+not|never|not|if|would)\b[^.!?\n]{0,40}\Z", re.IGNORECASE)
_FEWEST_WORDS = 4  # words of a text in Latin letters
_FEWEST_LETTERS = 4  # of another script
_MOST_CHARACTERS = 4000  # characters; more do not help


def language_of(text: str) -> str:
    """Return the language in `LANGUAGES` of a text, ignoring quotations, code and addresses, or "" if the text is
    unclear or too short."""
    plain = blank_quotations(text[:_MOST_CHARACTERS])
    letters = sum(letter.isalpha() for letter in plain)
    for name, pattern in _SCRIPTS:
        count = len(pattern.findall(plain))
        least = 0.1 if name == "Japanese" else 0.4
        if count >= _FEWEST_LETTERS and count > least * letters:
            return name
    words = [word.lower() for word in _WORD.findall(plain)]
    if len(words) < _FEWEST_WORDS:
        return ""
    hits = sorted(((sum(word in known for word in words), name) for name, known in _KNOWN.items()), reverse=True)
    (most, name), (second, _) = hits[:2]
    return name if most >= 2 and most > second and most * 8 >= len(words) else ""


def asked_language(text: str) -> str:
    """Return the language that an English user turn requests for the answer or a translation, or ""."""
    plain = blank_quotations(text)
    for found in _ASKED.finditer(plain):
        if not _NOT_ASKED.search(plain[: found.start()]):
            return found["language"].capitalize()
    return ""


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score 1 for a turn in the language that the user asks for, or else writes in, and 0 for another language."""
    for item in sight.items:
        said = sight.said(item.turn)
        wanted, found = asked_language(said) or language_of(said), language_of(sight.text(item))
        if wanted and found:
            yield Verdict(item, float(wanted == found), f"{found}, where {wanted} is expected")


SAME_LANGUAGE = Rule(
    name="same_language",
    version="1",
    level="turn",
    limits="counts common words of eight languages, and scripts; one language a turn; blind to short turns, and takes "
    "a language it does not know for its neighbour",
    silence="too few words to tell the language of the user or of the turn",
    judge=judge,
)
