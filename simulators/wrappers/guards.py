"""The parts of a text that a paraphrase must not change: numbers, names, URLs, quotations, and negations.

A text is cut into pieces. Guarded pieces pass every change character for character; only words and the gaps between
them are changed. The rules are for English and tend to guard too much: a capitalised word counts as a name in the
middle of a sentence, and at the beginning unless it is a common opener. A name in lower case is not recognised: list
it in `guard`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text. The kind is `guard` (never changed), `word` (letters), or `gap` (anything between them)."""

    text: str
    kind: Literal["guard", "word", "gap"]


_LETTERS = r"[^\W\d_]"
_WORD = re.compile(rf"{_LETTERS}+(?:['’]{_LETTERS}+)*")
_ALWAYS = tuple(
    re.compile(pattern)
    for pattern in (
        r"`[^`\n]*`",
        r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|‘[^’\n]*’(?!\w)",
        r"(?<!\w)'[^'\n]*'(?!\w)",
        r"\{[^{}\n]*\}|\[[^\[\]\n]*\]|<[^<>\n]*>",  # placeholders
        r"(?:https?://|www\.)\S*[^\s.,;:!?]|(?<!\w)#\w+",
        r"(?<!\S)(?=\S*[\d@])\S*[^\s.,;:!?]",  # 2004, $3.50, 7th, tt0390384, addresses
        r"(?<![\w.-])\w[\w-]*(?:\.\w[\w-]*)+",  # imdb.com
    )
)
_SENTENCE_END = re.compile(r"[.!?:;\n]")
_NAME_LINKS = frozenset({"of", "the", "and", "de", "la", "von", "van", "in", "for", "du", "del"})


def cut_pieces(text: str, guard: Iterable[str] = ()) -> tuple[Piece, ...]:
    """Cut `text` into pieces whose concatenation is `text`. `guard` lists more phrases to guard, exactly as written."""
    found: list[Piece] = []
    cursor = 0
    for start, end in _spans(text, guard):
        found += _is_plain(text[cursor:start])
        found.append(Piece(text[start:end], "guard"))
        cursor = end
    found += _is_plain(text[cursor:])
    # Words that are names, numbers or negations become guards; `Lord of the Rings` becomes one.
    told: list[Piece] = []
    opening = True
    for piece in found:
        if piece.kind == "word":
            kept = _is_name(piece.text, opening) or _changes_meaning(piece.text)
            told.append(Piece(piece.text, "guard") if kept else piece)
            opening = False
        else:
            told.append(piece)
            opening = bool(_SENTENCE_END.search(piece.text)) or (opening and piece.kind == "gap")
    return tuple(_link_names(told))


def guarded_parts(text: str, guard: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the guarded parts of `text`, in order."""
    return tuple(piece.text for piece in cut_pieces(text, guard) if piece.kind == "guard")


def join_pieces(parts: Iterable[Piece]) -> str:
    return "".join(part.text for part in parts)


def _spans(text: str, guard: Iterable[str]) -> list[tuple[int, int]]:
    found = [hit.span() for pattern in _ALWAYS for hit in pattern.finditer(text)]
    for phrase in guard:
        if phrase:
            found += [hit.span() for hit in re.finditer(re.escape(phrase), text)]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if start == end:
            continue
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _is_plain(text: str) -> list[Piece]:
    found: list[Piece] = []
    cursor = 0
    for hit in _WORD.finditer(text):
        if hit.start() > cursor:
            found.append(Piece(text[cursor : hit.start()], "gap"))
        found.append(Piece(hit[0], "word"))
        cursor = hit.end()
    if cursor < len(text):
        found.append(Piece(text[cursor:], "gap"))
    return found


def _changes_meaning(word: str) -> bool:
    plain = word.casefold().replace("’", "'")
    return plain in NUMBER_WORDS or plain in NEGATIONS


def _is_name(word: str, opening: bool) -> bool:
    plain = word.casefold().replace("’", "'")
    if plain == "i" or plain.startswith("i'"):
        return False
    if any(letter.isupper() for letter in word[1:]):
        return True
    return word[0].isupper() and not (opening and plain in OPENERS)


def _link_names(told: list[Piece]) -> list[Piece]:
    result: list[Piece] = []
    at = 0
    while at < len(told):
        end = at + 1
        if _is_capitalised(told[at]):
            look = at + 1
            while look < len(told) and (
                told[look].text == " " or told[look].text in _NAME_LINKS or _is_capitalised(told[look])
            ):
                look += 1
                if _is_capitalised(told[look - 1]):
                    end = look
        if end > at + 1:
            result.append(Piece(join_pieces(told[at:end]), "guard"))
        else:
            result.append(told[at])
        at = end
    return result


def _is_capitalised(piece: Piece) -> bool:
    return piece.kind == "guard" and piece.text[:1].isupper()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words whose loss would change the need. With a straight apostrophe.
NEGATIONS = _words(
    """
    aren't barely but can't cannot couldn't didn't doesn't don't except excluding hadn't hardly hasn't haven't isn't
    mustn't neither never no nobody none nor not nothing nowhere only shouldn't unless wasn't weren't without won't
    wouldn't
    """
)

NUMBER_WORDS = _words(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half
    quarter dozen once twice first second third fourth fifth
    """
)

# Words that a keyword query leaves out. No negations.
FUNCTION_WORDS = _words(
    """
    a an the this that these those of to in on at by for from with about as is are was were be been am do does did can
    could will would shall should may might must i i'm i'd me my we us our you your it its he she they them his her
    their there here and or so if then please which who whom whose what when where how that's what's some any have has
    had
    """
)

# Words that open a sentence with a capital without being names.
OPENERS = (
    FUNCTION_WORDS
    | NEGATIONS
    | _words(
        """
        add adhere also answer ask because before begin compare describe explain find first format get give go good
        great hello help hey hi just keep let list look make maybe more most name need next now ok okay other perhaps
        pick rather read recommend reply repeat say search see select show since start suggest summarise summarize
        sure take tell thank thanks today try use wait want well while why wow yes yet
        """
    )
)

# Words and their synonyms in requests. Not every sense fits: read some turns before trusting a rate.
SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "answer": ("reply",),
        "best": ("top",),
        "big": ("large",),
        "brief": ("short",),
        "buy": ("purchase", "get"),
        "cheap": ("inexpensive", "affordable"),
        "concerning": ("about",),
        "currently": ("now",),
        "describe": ("outline",),
        "easy": ("simple",),
        "explain": ("describe",),
        "famous": ("well-known",),
        "fast": ("quick",),
        "feature": ("include", "involve"),
        "featuring": ("with", "including"),
        "film": ("movie",),
        "films": ("movies",),
        "find": ("look up", "locate"),
        "give": ("provide",),
        "good": ("decent", "fine"),
        "help": ("assist",),
        "information": ("details",),
        "list": ("name", "enumerate"),
        "movie": ("film",),
        "movies": ("films",),
        "need": ("require",),
        "picture": ("image",),
        "popular": ("well-liked",),
        "quick": ("fast",),
        "recent": ("latest",),
        "recommend": ("suggest",),
        "researchers": ("scientists", "academics"),
        "show": ("present",),
        "simple": ("easy",),
        "start": ("begin",),
        "suggest": ("recommend",),
        "videos": ("clips",),
        "want": ("would like",),
    }
)

POLITE_WORDS = ("please", "thank", "would you", "could you", "kindly", "excuse me")
POLITE_OPENINGS = ("Hello. ", "Hi there. ", "Good day. ", "Excuse me. ")
POLITE_CLOSINGS = (" Thank you.", " Thanks.", " Thank you in advance.", " Many thanks.")
