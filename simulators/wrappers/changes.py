"""The six changes of a paraphrase. Each is a simple rule that never touches a guard.

Every change receives the pieces of a text, a rate and a random stream. It returns the pieces with the number of units
that could be changed and the number that were changed. A unit is a word (`typos`, `synonyms`) or the whole turn
(`case`, `keywords`, `order`, `politeness`). Each unit is changed with probability `rate`, independently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from simulators.wrappers import guards

if TYPE_CHECKING:
    import numpy

Pieces = tuple[guards.Piece, ...]


@dataclass(frozen=True, slots=True)
class ChangedPieces:
    """The changed pieces, with the number of units that could be changed and the number that were changed."""

    pieces: Pieces
    could: int
    did: int


Change = Callable[[Pieces, float, "numpy.random.Generator"], ChangedPieces]


def _use_synonyms(parts: Pieces, rate: float, rng: numpy.random.Generator) -> ChangedPieces:
    found: list[guards.Piece] = []
    could = did = 0
    for at, part in enumerate(parts):
        others = _synonyms_at(parts, at)
        if others:
            could += 1
            drawn, which = float(rng.random()), int(rng.integers(len(others)))
            if drawn < rate:
                did += 1
                part = guards.Piece(_copy_case(part.text, others[which]), "word")
        found.append(part)
    return ChangedPieces(tuple(found), could, did)


def synonym_form(text: str, guard: Sequence[str] = ()) -> str:
    """Return `text` with every word that has synonyms replaced by the first of its synonyms."""
    parts = guards.cut_pieces(text, guard)
    words = (_synonyms_at(parts, at)[:1] for at in range(len(parts)))
    return "".join(_copy_case(part.text, other[0]) if other else part.text for part, other in zip(parts, words))


_PARTICLES = frozenset({"up", "out", "off", "for", "down"})


def _synonyms_at(parts: Pieces, at: int) -> tuple[str, ...]:
    """Return the synonyms of the word. There are none before a particle: `list up` is not `name up`."""
    if parts[at].kind != "word" or any(part.text in _PARTICLES for part in parts[at + 2 : at + 3]):
        return ()
    return guards.SYNONYMS.get(parts[at].text.casefold(), ())


def _copy_case(old: str, new: str) -> str:
    return new[0].upper() + new[1:] if old[0].isupper() else new


def _rotate_sentences(parts: Pieces, rate: float, rng: numpy.random.Generator) -> ChangedPieces:
    sentences = _sentences(parts)
    if len(sentences) < 2:
        return ChangedPieces(parts, 0, 0)
    drawn, shift = float(rng.random()), 1 + int(rng.integers(len(sentences) - 1))
    if drawn >= rate:
        return ChangedPieces(parts, 1, 0)
    turned = [*sentences[shift:], *sentences[:shift]]
    found: list[guards.Piece] = []
    for sentence in turned:
        found += [*([guards.Piece(" ", "gap")] if found else []), *sentence]
    return ChangedPieces(tuple(found), 1, 1)


def _sentences(parts: Pieces) -> list[list[guards.Piece]]:
    """Return the sentences, or [] if they cannot be moved because of several lines or a missing full stop."""
    if "\n" in guards.join_pieces(parts) or not parts or parts[-1].text not in {".", "!", "?"}:
        return []
    found: list[list[guards.Piece]] = [[]]
    for part in parts:
        if part.kind == "gap" and part.text in {". ", "! ", "? "}:
            found[-1].append(guards.Piece(part.text[0], "gap"))
            found.append([])
        else:
            found[-1].append(part)
    return found


def _use_keywords(parts: Pieces, rate: float, rng: numpy.random.Generator) -> ChangedPieces:
    short = _drop_function_words(parts)
    if short is None:
        return ChangedPieces(parts, 0, 0)
    return ChangedPieces(short, 1, 1) if float(rng.random()) < rate else ChangedPieces(parts, 1, 0)


def keyword_form(text: str, guard: Sequence[str] = ()) -> str:
    """Return `text` as a keyword query, or `text` itself if nothing can be left out."""
    parts = guards.cut_pieces(text, guard)
    return guards.join_pieces(_drop_function_words(parts) or parts)


def _drop_function_words(parts: Pieces) -> Pieces | None:
    """Return the content words, each once, and guards, or None if nothing or nearly everything would be left out."""
    said: set[str] = set()
    dropped: list[bool] = []
    for at, part in enumerate(parts):
        word = part.text.casefold()
        alone = part.kind == "word" and _is_whole_word(parts, at)
        dropped.append((alone and word in said) or _is_droppable(parts, at))
        if alone:
            said.add(word)
    content = sum(part.kind != "gap" and not drop for part, drop in zip(parts, dropped))
    if not any(dropped) or content < 2:
        return None
    found: list[guards.Piece] = []
    waiting = ""
    for part, drop in zip(parts, dropped):
        if drop:
            waiting = waiting or " "
        elif part.kind == "gap" and any(letter.isspace() for letter in part.text):
            waiting = "\n" if "\n" in part.text or waiting == "\n" else " "
        else:
            if waiting and found:
                found.append(guards.Piece(waiting, "gap"))
            waiting = ""
            found.append(part)
    while found and found[-1].kind == "gap" and found[-1].text.strip(".!?,;: ") == "":
        found.pop()
    return tuple(found)


def _is_droppable(parts: Pieces, at: int) -> bool:
    if parts[at].kind != "word" or parts[at].text.casefold().replace("’", "'") not in guards.FUNCTION_WORDS:
        return False
    return _is_whole_word(parts, at)


def _is_whole_word(parts: Pieces, at: int) -> bool:
    """Return False if the word is part of a longer word, such as `robot` in `robot-like`."""
    before = parts[at - 1].text[-1:] if at else " "
    after = parts[at + 1].text if at + 1 < len(parts) else " "
    return before.isspace() and (after[0].isspace() or (after[0] in ",.!?;:" and len(after) != 1) or after in ".!?")


def _add_politeness(parts: Pieces, rate: float, rng: numpy.random.Generator) -> ChangedPieces:
    text = guards.join_pieces(parts)
    english = any(part.kind == "word" and part.text.isascii() for part in parts)
    if not english or any(word in text.casefold() for word in guards.POLITE_WORDS):
        return ChangedPieces(parts, 0, 0)
    # A closing after a line with a format would become part of the format.
    closable = "\n" not in text and parts[-1].text in {".", "!", "?"}
    phrases = (*guards.POLITE_OPENINGS, *(guards.POLITE_CLOSINGS if closable else ()))
    drawn, which = float(rng.random()), int(rng.integers(len(phrases)))
    if drawn >= rate:
        return ChangedPieces(parts, 1, 0)
    phrase = phrases[which]
    added = (guards.Piece(phrase, "gap"),)  # never changed: typos in a greeting would count for the wrong words
    return ChangedPieces((*added, *parts) if phrase in guards.POLITE_OPENINGS else (*parts, *added), 1, 1)


def _change_case(parts: Pieces, rate: float, rng: numpy.random.Generator) -> ChangedPieces:
    ways = [
        way
        for change in (str.lower, str.upper)
        if (way := tuple(guards.Piece(change(one.text), "word") if one.kind == "word" else one for one in parts))
        != parts
    ]
    if not ways:
        return ChangedPieces(parts, 0, 0)
    drawn, which = float(rng.random()), int(rng.integers(len(ways)))
    return ChangedPieces(ways[which], 1, 1) if drawn < rate else ChangedPieces(parts, 1, 0)


# Letters of the shortest word that gets a typo: shorter ones become other words.
_SHORTEST_WORD = 4

_KEYBOARD_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOUR_KEYS: Mapping[str, str] = MappingProxyType(
    {key: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in _KEYBOARD_ROWS for at, key in enumerate(row)}
)


def _add_typos(parts: Pieces, rate: float, rng: numpy.random.Generator) -> ChangedPieces:
    found: list[guards.Piece] = []
    could = did = 0
    for part in parts:
        if part.kind == "word" and len(part.text) >= _SHORTEST_WORD and part.text.isascii() and part.text.isalpha():
            could += 1
            drawn, slip, place = float(rng.random()), int(rng.integers(4)), float(rng.random())
            if drawn < rate:
                did += 1
                part = guards.Piece(_make_typo(part.text, slip, place), "word")
        found.append(part)
    return ChangedPieces(tuple(found), could, did)


def _make_typo(word: str, slip: int, place: float) -> str:
    """Make one typo after the first letter, which people seldom mistype. The kind is 0 (swap), 1 (omit), 2 (double)
    or 3 (neighbouring key)."""
    at = 1 + int(place * (len(word) - 2))
    letter, following = word[at], word[at + 1]
    if slip == 0 and letter != following:
        return word[:at] + following + letter + word[at + 2 :]
    if slip == 1:
        return word[:at] + word[at + 1 :]
    if slip == 3:
        beside = _NEIGHBOUR_KEYS[letter.lower()]
        key = beside[int(place * 997) % len(beside)]
        return word[:at] + (key.upper() if letter.isupper() else key) + word[at + 1 :]
    return word[:at] + letter + word[at:]


# By name, in the order of application.
CHANGES: Mapping[str, Change] = MappingProxyType(
    {
        "synonyms": _use_synonyms,
        "order": _rotate_sentences,
        "keywords": _use_keywords,
        "politeness": _add_politeness,
        "case": _change_case,
        "typos": _add_typos,
    }
)

ENGLISH_ONLY = ("synonyms", "keywords", "politeness")
