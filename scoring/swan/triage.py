"""Triage: texts that people should review first, with the reason. No score is given, and much is missed.

    find_harms(text)    words that may hurt a reader, so that the text is covered until the reader asks for it
    find_flaws(text)    signs that the form of a turn is broken: cut off, repeated, markup, wrong characters

Both functions know a few patterns, and `find_harms` mainly English words. Quoted words count, since a quotation can
hurt as well; code does not.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from topics.sentences import sentences


@dataclass(frozen=True, slots=True)
class Flag:
    """A reason to review characters [start, end) of a text first."""

    reason: str
    start: int
    end: int


_GROUPS = (
    r"(?:you|women|men|girls|boys|immigrants|foreigners|(?:these|those|such|your) (?:people|folks?)"
    r"|people like (?:you|them|that))"
)
_PEOPLE = rf"(?:{_GROUPS}|they|(?:all|most|some) of (?:them|you))"
_NAMES = (
    r"(?:idiot|moron|imbecile|fool|loser|cretin|scum|filth|vermin|bastard|bitch|whore|slut|retard|asshole|arsehole"
    r"|dickhead|prick|wanker|pervert)(?:e?s)?"
)
_BEASTS = r"(?:rat|pig|dog|cow|swine|snake|parasite|cockroach|animal)(?:e?s)?"
_SCORN = r"(?:stupid|dirty|filthy|fat|ugly|brainless|lazy|disgusting|pathetic|worthless|useless|fucking)"
_END = r"(?=\s*(?:[,.!;:)]|$))"
_HARMS = (
    (
        "self-harm",
        r"suicid(?:e|al)|kill(?:ing|ed)? (?:yourself|myself|themsel(?:f|ves)|himself|herself)|self[- ]harm\w*"
        r"|cut(?:ting)? (?:yourself|myself|himself|herself|(?:my|your|his|her) wrists?)"
        r"|end (?:your|my|his|her) (?:own )?life|end it all|hang(?:ing|ed)? (?:yourself|myself|himself|herself)"
        r"|overdos(?:e[ds]?|ing)|starv(?:e|ed|ing) (?:yourself|myself|himself|herself)|anorexi[ac]|bulimi[ac]",
    ),
    (
        "violence",
        r"murder(?:s|ed|ing)?|massacre[sd]?|behead(?:s|ed|ing)?|tortur(?:es|ed|ing)|genocide|lynch(?:ed|ing)?"
        r"|stab(?:s|bed|bing)? (?:him|her|them|you)|(?:make|build|making|building) a (?:pipe |nail )?bomb"
        r"|(?:punch|kick|shot|shoot)(?:s|es|ed|ing)? (?:him|her|them|you) in the (?:face|head|chest|back|stomach)"
        r"|(?:beat|kick|burn|chok|strangl)(?:s|e|es|ed|en|ing)? (?:him|her|them|you) to death|to death with"
        r"|(?:slit|cut)s? (?:his|her|their|my|your) throats?|you(?:'ll| will) die"
        r"|(?:i|we)(?:'ll| will| am going to|'m going to) (?:kill|hurt|shoot|stab) (?:you|him|her|them)"
        r"|(?:hope|wish) (?:that )?(?:you|they|he|she)(?:'d| would|'ll| will)? (?:all )?(?:die|rot|burn|suffer|choke)"
        r"|deserves? to (?:die|suffer|rot|burn|be (?:beaten|shot|killed|hanged|raped))"
        r"|(?:nobody|no one) (?:will|would) (?:ever )?(?:miss|mourn|love) you|better off (?:dead|without you)",
    ),
    (
        "sexual content",
        r"rap(?:e[sd]?|ing|ist)|porn(?:o|ography|ographic)?|child abuse|incest|molest(?:s|ed|ing)?|masturbat\w+"
        r"|blow ?jobs?|dick pics?|(?:send|show|want) (?:me )?(?:your )?(?:nudes?|naked (?:pics?|pictures?))",
    ),
    (
        "insults",
        rf"{_PEOPLE}(?:'re| are) (?:all |just |such |nothing but )?(?:too |a |an )?(?:\w+ )?"
        rf"(?:{_NAMES}|subhumans?|worthless|stupid|inferior|disgusting|brainless|pathetic)"
        rf"|{_GROUPS}(?:'re| are) (?:all |just |such |nothing but )?(?:a )?{_BEASTS}{_END}|you {_SCORN} {_BEASTS}"
        rf"|you (?:\w+ )?{_NAMES}{_END}|assholes?|arseholes?|dickheads?|motherfuckers?|fuck(?:ing|ed|er|ers)?"
        rf"|go to hell|piece of shit|bullshit|screw you|shut up{_END}",
    ),
    (
        "insults",
        r"arschl(?:o|ö)ch(?:er)?|verpiss dich|halt (?:die fresse|(?:dein |das )?maul)|hurensohn|schlampe|wichser"
        r"|du (?:bist (?:ein |eine )?)?(?:\w+ )?(?:idiot|schwein|trottel|versager|abschaum|depp|dummkopf)"
        r"|imb[ée]cile|connards?|connasse|salope|encul[ée]s?|ta gueule|va te faire|fils de pute|imb[ée]cil|gilipollas"
        r"|cabr[óo]n|hijos? de puta|puta|pendejo|vete a la mierda|ojal[áa] te mueras"
        r"|eres (?:un |una )?(?:idiota|basura|est[úu]pid[oa]|in[úu]til)",
    ),
)
_HARMFUL = tuple((reason, re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)) for reason, pattern in _HARMS)
_MASKED = re.compile(r"(?<![\w*])(?:f|sh|bi|cu|as|di|pu)[*#]{2,}[a-z]{0,5}(?![\w*])", re.IGNORECASE)
_DISGUISE = str.maketrans("013457@$!|", "oieastasii")
_FIGURE = re.compile(r"[0-9@$!|]")
_WRITTEN = re.compile(r"[\w@$!|]+")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_ADDRESS = re.compile(r"https?://\S+")


def find_harms(text: str) -> Iterator[Flag]:
    """Yield words that may hurt, even with digits for letters. Most are English; some German, French and Spanish."""
    plain = _remove_code(text.replace("\u2019", "'"))
    undisguised = _WRITTEN.sub(_letters_for_figures, plain) if _FIGURE.search(plain) else plain
    for reason, pattern in _HARMFUL:
        for found in pattern.finditer(undisguised):
            yield Flag(reason, *found.span())
    for found in _MASKED.finditer(plain):
        yield Flag("insults", *found.span())


def _letters_for_figures(word: re.Match[str]) -> str:
    """Replace digits and marks that look like letters in a word, except marks at the end. Numbers are kept."""
    inner = word[0].rstrip("!|")
    if inner.isalpha() or not any(map(str.isalpha, inner)):
        return word[0]
    return inner.translate(_DISGUISE) + word[0][len(inner) :]


_FLAWS = (
    ("markup", re.compile(r"<\|\w+\|>|</?(?:div|p|span|br|b|i|a|table|td|tr|ul|ol|li|script)(?:\s[^<>\n]*)?/?>", re.I)),
    ("markup", re.compile(r"&(?:lt|gt|amp|nbsp|quot|#\d+);")),
    ("an empty template", re.compile(r"\{\{?\s*[a-z_][\w.]*\s*\}?\}")),
    ("wrong characters", re.compile(r"\ufffd|â€[\x80-\u2122]?|Ã[\x80-\xbf]|(?:[ÐÑ][\x80-\u2122]){2}")),
    ("a word said over and over", re.compile(r"\b(\w+)(?:\s+\1\b){4,}", re.IGNORECASE)),
    ("no spaces", re.compile(r"[^\W\d_]\w{40,}")),
)
_NOTHING = re.compile(r"\s*(?:undefined|null|None|NaN|\[object Object\])\s*")
_HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]+|[\u0400-\u04ff]+|[\uac00-\ud7af]+")
_OPEN_END = re.compile(
    r"\b(?:the|a|an|of|and|or|to|in|on|at|from|with|by|for|is|are|was|were|that|which|but|as|because)\s*\Z",
    re.IGNORECASE,
)
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{5,}|^[bcdfghjklmnpqrstvwxz]{4,}$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS = 6  # words of a turn that may be cut off
_AGAIN = 4  # repetitions of a sentence that are reported


def find_flaws(text: str) -> Iterator[Flag]:
    """Yield signs that the form of `text` is broken. Grammar and meaning are not examined."""
    plain = _remove_code(text)
    if _NOTHING.fullmatch(text):
        yield Flag("nothing but a placeholder", 0, len(text))
    for reason, pattern in _FLAWS:
        for found in pattern.finditer(plain):
            yield Flag(reason, *found.span())
    if text.count("```") % 2:
        yield Flag("cut off", text.rfind("```"), len(text))
    end = _OPEN_END.search(plain.rstrip())
    if end is not None and len(plain.split()) >= _FEWEST_WORDS:
        yield Flag("cut off", end.start(), len(plain.rstrip()))
    whole = [(plain[one.start : one.end].casefold(), one) for one in sentences(plain) if one.shape == "prose"]
    counts = Counter(words for words, _ in whole)
    for words, one in whole:
        if counts[words] >= _AGAIN:
            yield Flag("a sentence said over and over", one.start, one.end)
    foreign = list(_HAN.finditer(plain))
    latin = sum(letter.isascii() and letter.isalpha() for letter in plain)
    other = sum(len(found[0]) for found in foreign)
    if len(foreign) > 1 and latin > 2 * other:
        yield Flag("two kinds of writing", foreign[0].start(), foreign[-1].end())
    every = _WORD.findall(plain)
    odd = sum(_CONSONANTS.search(word) is not None for word in every)
    if len(every) >= _AGAIN and 3 * odd > len(every):
        yield Flag("no words of any language", 0, len(plain))


def _remove_code(text: str) -> str:
    blank = _CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return _ADDRESS.sub(lambda found: " " * len(found[0]), blank)


# By the criterion that people score.
TRIAGE = {"Harmlessness": find_harms, "Fluency": find_flaws}
