"""The words by which answers refuse or evade, by language.

`phrases` has a file for each language, so that people who speak it can read and edit it. Its patterns are regular
expressions, one a line, in which a blank is any white space, ` .. ` is a gap within a clause, ` ... ` one that may be
longer, `~` is the rest of a word, and `{name}` is an alternative of `[parts]`. A pattern matches whole words, unless
the file says `spaced = false`: its script has no spaces between words, or joins small words to them.

Every language whose script and frequent words occur in a text is looked for. The language of the text is not
determined first, because that is often wrong for one sentence, and because answers mix languages.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from topics.late_pattern import lazy_pattern

# The languages of `phrases` in Latin letters, with frequent words: all of their patterns would take a quarter of a
# second to load, so those of which a text has far fewer words than of another language are left out.
_COMMON = {
    "en": "i i'm i'd i'll we the a an to of is are can't cannot don't not it that this you your sorry please my let's",
    "cs": "se na je že to k do o ve pro mi vám si jako nemohu nevím bohužel omlouvám nemám ne jsem tom za po od",
    "de": "ich mir mich wir nicht das die der den dem ist zu es sie und kein keine leider dazu mein kann bitte ein",
    "es": "no que de la el los en un una es lo se me mi con para por su eso puedo soy tengo le te a",
    "fi": "en emme ei minulla on voi olen se siitä tästä tätä tähän tämä sinua valitettavasti ja että kannattaa kuin",
    "fr": "je ne pas de la le les un une est en à vous ce cette mon mes nous pour c'est n'ai j'ai des il sur et d'un",
    "hu": "nem a az ez ezt erre erről egy és hogy sajnos sajnálom nincs csak én kell kérem is meg van",
    "id": "saya kami tidak ini itu dan yang di untuk ke maaf anda dengan belum tentang dari pada bisa",
    "it": "non di la il lo le un una è che mi in per a con su i questo questa si da del sono al ho",
    "nl": "ik niet geen de het een dat die kan mij wij we is van op over te u uw en voor ben heb in daar dit mijn",
    "pl": "nie w na to się o z do i że mogę nic mam jestem jako ten tym od po jest dla mi tego tej proszę",
    "pt": "não de a o que um uma em isso é para me meu por com do da os as no na se eu você sobre",
    "ro": "nu de la un o să pe în îmi și despre pot am acest această este mă vă din cu sunt a mi",
    "sv": "jag inte det att och är en ett som på kan mig av har om vi för i mina dig du den min till",
    "tr": "bu bir ve bunu için hakkında konuda ben değil size bana ile yok da de olarak maalesef üzgünüm çok daha",
    "vi": "tôi không này và của là về cho bạn chúng có được xin mình thể một các nào",
}
_LATIN = {language: frozenset(words.split()) for language, words in _COMMON.items()}
# The others, by the script that must occur in the text.
_SCRIPTS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (lazy_pattern(r"[\u3040-\u30ff]"), ("ja",)),
    (lazy_pattern(r"[\u4e00-\u9fff]"), ("zh",)),
    (lazy_pattern(r"[\uac00-\ud7af]"), ("ko",)),
    (lazy_pattern(r"[\u0400-\u04ff]"), ("ru", "uk")),
    (lazy_pattern(r"[\u0370-\u03ff]"), ("el",)),
    (lazy_pattern(r"[\u0600-\u06ff]"), ("ar", "fa")),
    (lazy_pattern(r"[\u0590-\u05ff]"), ("he",)),
    (lazy_pattern(r"[\u0900-\u097f]"), ("hi",)),
    (lazy_pattern(r"[\u0e00-\u0e7f]"), ("th",)),
)
LANGUAGES = tuple(sorted((*_COMMON, *(code for _, codes in _SCRIPTS for code in codes))))

# Each character is replaced by one, so that spans are still those of the answer: curly apostrophes, letters that are
# often written without their marks, and the joiner within Persian words.
_FOLDED = str.maketrans("\u2019\u2018\u02bc\u00b4\uff07\u00a0\u202f\u200cأإآىیکۀةёâ", "'''''   اااييكههеa")
_QUOTED = lazy_pattern(
    r'"[^"\n]{0,300}"|“[^”\n]{0,300}”|„[^“”\n]{0,300}[“”]|”[^”\n]{0,300}”|«[^»\n]{0,300}»|「[^」\n]{0,300}」'
    r"|『[^』\n]{0,300}』|‘[^’\n]{0,300}’(?!\w)|‚[^‘\n]{0,300}‘|‹[^›\n]{0,300}›"
    r"|(?<!\w)'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){0,300}'(?!\w)"  # an apostrophe within a word ends no quotation
    r"|^[ \t]{0,3}>[^\n]*|```.{0,2000}?```|`[^`\n]{0,300}`",
    re.MULTILINE | re.DOTALL,
)
_THAI_BLANK = lazy_pattern(r"(?<=[\u0e00-\u0e7f]) (?=[\u0e00-\u0e7f])(?!แต่)")  # ends a clause or a sentence
_EVIDENCE, _SHARE = 3, 4
_LETTER = lazy_pattern(r"[a-z]", re.IGNORECASE)
_WORD = lazy_pattern(r"[^\W\d_][\w'-]*")
_PART = re.compile(r"\{([a-z]+)\}")


@dataclass(frozen=True, slots=True)
class Wording:
    """The patterns of a language. `refuses` expresses the speaker's inability or unwillingness, and `unless` cancels it
    in the same sentence. Text after one of `turns` is an answer, unless it offers other help or points elsewhere.
    `delivers` announces an answer. `evades` points elsewhere or leaves the subject."""

    language: str
    refuses: re.Pattern[str]
    unless: re.Pattern[str]
    turns: re.Pattern[str]
    offers: re.Pattern[str]
    delivers: re.Pattern[str]
    evades: re.Pattern[str]


def fold(text: str) -> str:
    """Return the text as patterns expect it, with the same positions: without quotations and curly apostrophes."""
    return _THAI_BLANK.sub("\n", _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text).translate(_FOLDED))


def wordings(text: str) -> Iterator[Wording]:
    """Yield the patterns of the languages that something of the text may be written in."""
    words = frozenset(word.strip("',-") for word in _WORD.findall(text.lower()))
    hits = {language: len(common & words) for language, common in _LATIN.items()} if _LETTER.search(text) else {}
    most = max(hits.values(), default=0)
    for language, count in hits.items():
        # Three words of a language are some evidence; without it, the text may be in any of them.
        if most < _EVIDENCE or count * _SHARE >= most:
            yield _load(language)
    for script, codes in _SCRIPTS:
        if script.search(text):
            yield from map(_load, codes)


@cache
def _load(language: str) -> Wording:
    file = resources.files("protocols.rules") / "phrases" / f"{language}.toml"
    given = tomllib.loads(file.read_text(encoding="utf-8"))
    parts, spaced = given.pop("parts", {}), given.pop("spaced", True)
    patterns = {name: _compile(lines, parts, spaced) for name, lines in given.items()}
    return Wording(language, **patterns)


def _compile(lines: str, parts: dict[str, str], spaced: bool) -> re.Pattern[str]:
    shape = "|".join(line.strip() for line in lines.splitlines() if line.strip())
    shape = _PART.sub(lambda part: f"(?:{parts[part[1]]})", shape).translate(_FOLDED).replace("~", r"[\w'-]*")
    if spaced:
        shape = shape.replace(" ... ", r"\b[^\n]{0,160}?\b").replace(" .. ", r"\s(?:[^,;:\n]{0,60}?\s)?")
        return lazy_pattern(r"(?<!\w)(?:" + shape.replace(" ", r"\s+") + r")(?!\w)", re.IGNORECASE)
    shape = shape.replace(" ... ", r"[^\n]{0,120}?").replace(" .. ", r"[^,;:،、，；：。\n]{0,40}?")
    return lazy_pattern(shape.replace(" ?", r"\s?").replace(" ", r"\s+"), re.IGNORECASE)
