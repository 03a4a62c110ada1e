"""The language of a text, determined from its words.

M. Lui, T. Baldwin, "langid.py: An Off-the-shelf Language Identification Tool" (ACL 2012, System Demonstrations)
distinguishes 97 languages by character n-grams; the library py3langid, its successor, knows 140. The result is empty
for a text with too little evidence: names and addresses reveal little, and a few words could be in several languages.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Protocol

from topics.late_pattern import lazy_pattern

# A language with at least this probability counts as known. Of the 3,634 English utterances of DBDC3 and IARD with 20
# letters or more, it makes the language of 3,258 known, one of them wrongly; 0.9 would give 2,821 and none.
LEAST_CONFIDENCE = 0.7

# Number of characters that are used; more do not make the result surer.
_MOST_CHARACTERS = 1_000

_LEAST_LETTERS = 8  # with fewer, languages in Latin letters cannot be distinguished
# Code, addresses and marks.
_NO_WORDS = lazy_pattern(
    r"```.*?(?:```|\Z)|`[^`\n]*`|(?:https?://|www\.)[!-~]+|<[^<>\n]{1,200}>", re.DOTALL | re.IGNORECASE
)


class _Identifier(Protocol):
    labels: Sequence[str]

    def classify(self, text: str) -> tuple[str, float]: ...


def language_of(text: str) -> str:
    """Return the language of most of the text as a code of ISO 639-1, such as `de`. Returns "" if the text has too
    few words or could be in several languages. Code and addresses do not count."""
    return _language(text[: 4 * _MOST_CHARACTERS])


def known_languages() -> tuple[str, ...]:
    """Return the codes of all languages that can be recognised."""
    return tuple(sorted(_identifier().labels))


@lru_cache(maxsize=2**14)
def _language(text: str) -> str:
    words = _NO_WORDS.sub(" ", text)[:_MOST_CHARACTERS]
    if sum(map(str.isalpha, words)) < _LEAST_LETTERS and words.isascii():
        return ""
    language, probability = _identifier().classify(words)
    return language if probability >= LEAST_CONFIDENCE else ""


@cache
def _identifier() -> _Identifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # imported here because it loads a model of 4 MB

    found: _Identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return found


_NAMES = """
Afrikaans:af Albanian:sq Amharic:am Arabic:ar Aragonese:an Armenian:hy Assamese:as Azerbaijani:az Azeri:az Bashkir:ba
Basque:eu Belarusian:be Bengali:bn Bangla:bn Bosnian:bs Breton:br Bulgarian:bg Burmese:my Cantonese:yue Castilian:es
Catalan:ca Chinese:zh Mandarin:zh Croatian:hr Czech:cs Danish:da Dutch:nl Flemish:nl English:en Esperanto:eo
Estonian:et Faroese:fo Farsi:fa Filipino:tl Finnish:fi French:fr Galician:gl Georgian:ka German:de Greek:el Guarani:gug
Gujarati:gu Hausa:ha Hebrew:he Hindi:hi Hungarian:hu Icelandic:is Igbo:ig Indonesian:id Irish:ga Italian:it Japanese:ja
Javanese:jv Kannada:kn Kazakh:kk Khmer:km Kinyarwanda:rw Korean:ko Kurdish:ku Kyrgyz:ky Lao:lo Latin:la Latvian:lv
Lingala:ln Lithuanian:lt Luxembourgish:lb Macedonian:mk Malagasy:mg Malay:ms Malayalam:ml Maltese:mt Marathi:mr
Mongolian:mn Nepali:ne Norwegian:no Bokmål:no Nynorsk:nn Occitan:oc Odia:or Oromo:om Pashto:ps Persian:fa Polish:pl
Portuguese:pt Punjabi:pa Quechua:qu Romanian:ro Russian:ru Sanskrit:sa Serbian:sr Shona:sn Sinhala:si Slovak:sk
Slovene:sl Slovenian:sl Somali:so Spanish:es Swahili:sw Swedish:sv Tagalog:tl Tajik:tg Tamil:ta Tatar:tt Telugu:te
Thai:th Tibetan:bo Tigrinya:ti Turkish:tr Turkmen:tk Uighur:ug Uyghur:ug Ukrainian:uk Urdu:ur Uzbek:uz Venetian:vec
Vietnamese:vi Walloon:wa Welsh:cy Xhosa:xh Yiddish:yi Yoruba:yo Zulu:zu
"""
_CODES = {name.casefold(): code for name, code in (pair.split(":") for pair in _NAMES.split())} | {"nb": "no"}
_NAMED: dict[str, str] = {}
for _name, _code in (pair.split(":") for pair in _NAMES.split()):
    _NAMED.setdefault(_code, _name)
# `Brazilian Portuguese`, `Chinese (simplified)`, `pt-BR`.
_VARIETY = re.compile(r"(?:[^\W\d_]+ )?([^\W\d_]+)(?: \([^\W\d_]+\))?|([a-z]{2,3})(?:[-_][A-Za-z0-9]{2,8})+")


def language_code(name: str) -> str | None:
    """Return the ISO 639-1 code for a code, a name or a variety such as `Brazilian Portuguese`. None if unknown."""
    found = _VARIETY.fullmatch(name.strip())
    word = (found[1] or found[2]).casefold() if found else ""
    return word if word in _NAMED else _CODES.get(word)


def language_name(name: str) -> str:
    """Return the English name of a language from its code or name, for readers."""
    return _NAMED.get(name.strip().casefold(), name.strip())


def named_languages() -> tuple[str, ...]:
    """Return the English names of the known languages."""
    return tuple(_NAMED.values())
