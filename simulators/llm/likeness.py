"""Comparison of two short texts in any language: content words, near-repeats, script and language.

Words are compared by their first letters, because endings vary with case and number. Chinese and Japanese, which have
no spaces, are compared by single Han characters and runs of Katakana.
"""

import math
import re
import unicodedata
from difflib import SequenceMatcher
from typing import Final

from simulators.content_words import content_words
from topics.languages import language_of

# Characters that are compared.
LONGEST = 4_000

# Similarity of near-repeats (`SequenceMatcher.ratio` of their words).
_ALIKE = 0.85
_LEAST_LETTERS = 15  # of the shorter text, before two texts in one script can differ in language

_EMPTY_WORDS = """
alle auch bitte dass dein deine diese dieser dieses doch eine einem einen einer eines gibt habe haben hier ihnen ihre
immer kann kannst können könnten könntest mehr mein meine möchte nach nicht noch oder sein sich sind suche über unter
welche welchem welchen welcher welches wenn werden wird wurde würde zeig nenne nennen sagen gern gerne algo algún
alguna algunas algunos como cuál cuáles cual cuales dime donde esta este esto favor gustaría haya hola indica muestra
nombra otra otras otro otros para pero puede puedes podrías qué quién quiero sobre tiene tienen unas unos usted autre
autres avec avez bien cela cette dans dire dites donnez elle encore êtes leur leurs merci moi nous peux plus pour
pourriez pouvez quel quelle quelles quels sont veux voudrais vous alcuni alcune altri altre anche come cosa dimmi dove
ecco nella nelle perché potresti puoi quale quali quanto questo questa sono vorrei della delle degli aqui como diga
existe isso mais onde outra outros podes pode quais qual quero sobre você welke alsjeblieft andere deze geef graag
hebben heeft kunt kunnen meer naar noem over voor waar wanneer zijn zoek είναι έχουν θέλω ήθελα μερικές μπορείς
μπορείτε ποιες ποια ποιοι ποιος πόσες παρακαλώ σχετικά άλλες υπάρχουν αλλά αυτές αυτό πείτε haluan haluaisin kerro
kertoa mikä mitkä minkä mitä joita joka jotka muita olla onko ovat sekä tästä voisitko voitko lisää какие какой какая
которые назови назовите можете можешь пожалуйста скажи скажите есть меня хочу ещё этих
"""
# German, Spanish, French, Italian, Portuguese, Dutch, Greek, Finnish and Russian words of four letters and more that
# say nothing about the need; shorter ones of languages other than English do not count at all.
_EMPTY = frozenset(_EMPTY_WORDS.split())
_SHORTEST = 4  # characters: shorter ones are function words in most languages
_SPACED_OTHERWISE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[\u30a1-\u30fa\u30fc]+")
_FUNCTION_SIGNS = frozenset("的了吗嗎呢是我您你请請哪些什么麼個个有在和与與及或给給想要谁誰何方教挙一")
_KANA = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


def content_tokens(text: str) -> frozenset[str]:
    """Return the content words of a text. In languages without spaces, these are runs of Katakana and single Han
    characters."""
    plain = unicodedata.normalize("NFKC", text[:LONGEST])
    runs = {run for found in _SPACED_OTHERWISE.findall(plain) for run in _split_run(found)}
    rest = _KANA.sub(" ", plain)
    spaced = {word for word in content_words(rest) if word not in _EMPTY and _is_long_enough(word)}
    return frozenset(runs | spaced)


def _is_long_enough(word: str) -> bool:
    if word.isdecimal() or _is_hangul(word) or not word.isalpha():
        return True
    return len(word) > 2 if word.isascii() else len(word) >= _SHORTEST


def _split_run(run: str) -> list[str]:
    if "\u30a1" <= run[0] <= "\u30fc":
        return [run] if len(run) > 1 else []
    return [sign for sign in run if sign not in _FUNCTION_SIGNS]


def _is_hangul(word: str) -> bool:
    return "\uac00" <= word[0] <= "\ud7a3" and len(word) > 1


def share_kept(words: frozenset[str], there: frozenset[str]) -> float:
    """Return the share in [0, 1] of wanted words that occur, exactly or by stem. NaN means that no words are wanted."""
    if not words:
        return math.nan
    return sum(word in there or any(_same_stem(word, one) for one in there) for word in words) / len(words)


def _same_stem(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    least = 2 if _is_hangul(one) else 4
    if shorter < least:
        return False
    alike = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    return alike >= max(least, math.ceil(0.65 * shorter))


def are_similar(one: str, other: str) -> bool:
    """Return whether the texts are nearly equal. Texts of fewer than three words must have the same words."""
    first, second = _tokens(one), _tokens(other)
    if not first or not second or max(len(first), len(second)) < 3:
        return bool(first) and first == second
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= _ALIKE


def _tokens(text: str) -> list[str]:
    words = plain_letters(text[:LONGEST]).split()
    return [part for word in words for part in (word if _KANA.fullmatch(word) else (word,))]


def count_words(text: str) -> int:
    """Count the words of a text, or its characters in languages without spaces."""
    return len(_tokens(text))


def plain_letters(text: str) -> str:
    """Return the letters (in lower case) and digits, with one space between words."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


_SCRIPTS: Final = ("latin", "greek", "cyrillic", "hangul", "arabic", "hebrew", "devanagari", "thai")


def script_of(text: str) -> str:
    """Return the script of most letters (`cjk` for Chinese and Japanese), or "" for a mixture or fewer than four
    letters."""
    counts: dict[str, int] = {}
    for letter in text[:LONGEST]:
        if letter.isalpha():
            name = "latin" if letter.isascii() else unicodedata.name(letter, "").split(" ")[0].lower()
            kept = "cjk" if name in ("cjk", "hiragana", "katakana", "katakana-hiragana") else name
            counts[kept] = counts.get(kept, 0) + 1
    total = sum(counts.values())
    if total < 4:
        return ""
    name, most = max(counts.items(), key=lambda one: one[1])
    return name if most >= 0.7 * total and name in (*_SCRIPTS, "cjk") else ""


# Languages that a short text cannot distinguish.
FAMILY: Final = {
    **dict.fromkeys(("no", "nb", "nn", "da", "sv"), "no"),
    **dict.fromkeys(("es", "gl", "ast", "an", "pt", "ca"), "es"),
    **dict.fromkeys(("hr", "sr", "bs", "sl"), "hr"),
    **dict.fromkeys(("id", "ms", "jv"), "id"),
    **dict.fromkeys(("cs", "sk"), "cs"),
    **dict.fromkeys(("nl", "af"), "nl"),
    **dict.fromkeys(("uk", "ru", "be"), "ru"),
}

_ENGLISH_WORDS = """
about and are been but can could did does from for have how i if like most my of our please should such that the their
them then there these they this those want were what when where which why with would you your
"""
# Words of English that its neighbours do not share.
_ENGLISH: Final = frozenset(_ENGLISH_WORDS.split())


def detect_language_family(text: str) -> str:
    """Return the language family as the code of one member, or "" if the language cannot be detected reliably."""
    if sum(word in _ENGLISH for word in plain_letters(text[:LONGEST]).split()) >= 2:
        return "en"  # a short sentence that contains a name is easily taken for another language
    if sum(map(str.isalpha, text)) < _LEAST_LETTERS and script_of(text) in ("latin", "cyrillic", ""):
        return ""
    found = language_of(text)
    return FAMILY.get(found, found)
