"""The received texts of one turn, each with the key that identifies the text in other turns. A key consists of an
address, the path of the pieces, their kind, and the way of joining them. Which text is the reply is not known here:
`judgement` learns that over the turns of a run."""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harvest.pages.witness.letters import Plain, letters, readings
from harvest.pages.witness.opening import Leaf
from harvest.pages.witness.received import generalize

# Ends the way of a key if the user's words before the text were cut off.
AFTER_USER = " after the user's words"

# The temporary end of a growing text: closing tags, marks, a cursor.
_CLOSERS = re.compile(r"(?:\s*</[a-zA-Z][\w-]*>\s*|[\s*_`~|▍▌█●…])+$")
_STABLE_SHARE = 0.5  # share of a text that must stay the same for the next to continue it
_SHORTEST_SHARED = 8  # least number of characters that must stay
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_WRITTEN = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*")
_LONG_TEXT = 20  # letters: a longer text from an earlier turn is not a piece of a new one
_MOST_KNOWN = 20_000  # most texts of earlier turns that are remembered
_MOST_STRANDS = 400  # most texts of one turn; the longest are kept
_SHORTEST_STAGE = 8  # characters: a longer text at the start of another is a stage of it
_FEW_TEXTS = 3  # most texts made by many pieces at different places if almost every one continues the one before
_MOST_BESIDE = 12  # texts of one kind that may each be the reply; more are pieces of one


@dataclass(frozen=True, slots=True)
class Run:
    """A text in its final form. `stages` counts the versions of a growing text, and is 1 for a single piece."""

    text: str
    stages: int = 1


def join_runs(pieces: Iterable[str]) -> list[Run]:
    """Join pieces into texts. Each piece either continues the whole previous text or begins a new text."""
    found: list[Run] = []
    for piece in pieces:
        if found and is_continuation(found[-1].text, piece):
            found[-1] = Run(piece, found[-1].stages + (piece != found[-1].text))
        else:
            found.append(Run(piece))
    return found


def is_continuation(before: str, after: str) -> bool:
    """Return True if `after` continues or repeats `before`, apart from the temporary end of `before`."""
    if after.startswith(before):
        return True
    bare = _CLOSERS.sub("", before)
    if bare and after.startswith(bare):
        return True
    same = next((place for place, pair in enumerate(zip(before, after)) if pair[0] != pair[1]), len(before))
    return same >= max(_SHORTEST_SHARED, _STABLE_SHARE * len(before)) and len(after) >= 0.8 * len(before)


def splice_pieces(pieces: Iterable[tuple[str, int | None]]) -> str:
    """Join pieces into one text. A piece with an offset replaces the text from there on; any other is appended."""
    text = ""
    for piece, place in pieces:
        text = text[: len(text) if place is None else place] + piece
    return text


def decode_pieces(pieces: Sequence[str]) -> list[str]:
    """Return the decoded pieces if each is base64 and all together are UTF-8 text, otherwise []."""
    if not all(len(piece) % 4 == 0 and _BASE64.fullmatch(piece) for piece in pieces):
        return []
    decoder = codecs.getincrementaldecoder("utf-8")()  # a character may be split between pieces
    try:
        texts = [decoder.decode(base64.b64decode(piece, validate=True)) for piece in pieces]
        whole = "".join([*texts, decoder.decode(b"", final=True)])
    except (binascii.Error, ValueError):
        return []
    return texts if whole and _WRITTEN.fullmatch(whole) else []


@dataclass(frozen=True, slots=True)
class Key:
    """A key that identifies a text over several turns. `address` is as in `received`. `path` is the general path, with
    `*` for parts that differ from message to message. `names` are the names that the messages give the text, and
    `way` is the way of joining the pieces."""

    address: str
    path: str
    names: tuple[str, ...]
    way: str

    @property
    def parts(self) -> tuple[str, str, str, str]:
        return self.address, self.path, " ".join(self.names), self.way


@dataclass(frozen=True, slots=True)
class Strand:
    """A received text. `keys` are all keys that lead to the text. `readings` are its possible meanings, the most
    likely first. `pieces` is the number of pieces that form the text. `old` is True if the text came earlier in
    this conversation, and now came in one piece. `beside` holds other texts under the same key that are not part of
    this text."""

    keys: tuple[Key, ...]
    readings: tuple[Plain, ...]
    pieces: int
    old: bool = False
    beside: tuple[str, ...] = ()

    @property
    def letters(self) -> str:
        return self.readings[0].letters


@dataclass(slots=True)
class EarlierTexts:
    """The texts that came earlier in a conversation, each identified by its letters."""

    texts: set[str] = field(default_factory=set)

    def add(self, leaves: Iterable[Leaf]) -> None:
        """Remember the texts of a turn that has ended."""
        own = list(leaves)
        for part in _group_by(own, lambda leaf: (leaf.address, leaf.path, leaf.number)).values():
            grown = join_runs(leaf.text for leaf in part)
            whole = [Run("".join(run.text for run in grown))] if len(grown) > 1 else []
            for run in (*grown, *whole):
                if len(self.texts) < _MOST_KNOWN:
                    self.texts.add(letters(run.text))

    def contains(self, run: Run) -> bool:
        return run.stages == 1 and letters(run.text) in self.texts


def find_strands(leaves: Sequence[Leaf], said: str, heard: EarlierTexts) -> list[Strand]:
    """Put together the texts of one turn. `said` is the user's text, which cannot be the reply."""
    search = _StrandSearch(leaves, letters(said), heard)
    kinds: dict[tuple[str, str, tuple[str, ...]], list[Leaf]] = {}
    for leaf in leaves:
        path = generalize(leaf.path)
        # A request's parts may be split over paths, so all of them are also kept together, without their names.
        for names in dict.fromkeys(((), leaf.names)):
            kinds.setdefault((leaf.address, path, names), []).append(leaf)
    for (address, path, names), own in kinds.items():
        key = Key(address, path, names, "")
        # A text that was continued is a stage of the result: a page that was cut short would be equal to it.
        search.add_kind(key, [leaf for leaf in own if leaf not in search.begun])
        if continued := {leaf: pieces for leaf, pieces in search.begun.items() if pieces[0] in own}:
            search.add_continued(key, continued)
    return search.strands()


class _StrandSearch:
    def __init__(self, leaves: Sequence[Leaf], said: str, heard: EarlierTexts) -> None:
        self.leaves, self.said, self.heard = leaves, said, heard
        # By text, age and the texts next to it: the keys, and the number of pieces.
        self.found: dict[tuple[str, bool, tuple[str, ...]], tuple[list[Key], int]] = {}
        # Texts that came whole when a thing was made, with the pieces later spliced into them from another path, which
        # name the thing by its number.
        self.begun: dict[Leaf, list[Leaf]] = {}
        for number, pieces in _group_by([leaf for leaf in leaves if leaf.place], lambda leaf: leaf.number).items():
            thing, first = str(number).rpartition("/")[2], pieces[0]
            before = [
                leaf
                for leaf in leaves
                if thing
                and (leaf.address, leaf.number.rpartition("/")[2]) == (first.address, thing)
                and leaf.at <= first.at
                and leaf.place is None
                and len(leaf.text) >= (first.place or 0)
            ]
            if before:
                self.begun[before[-1]] = pieces

    def add(self, key: Key, way: str, pieces: Sequence[Run], beside: Sequence[str] = (), *, old: bool = False) -> None:
        text = ("" if way == "joined" else "\n\n").join(run.text for run in pieces)
        if text.strip():
            keys, _ = self.found.setdefault((text, old, tuple(beside)), ([], sum(run.stages for run in pieces)))
            keys.append(replace(key, way=way))

    def add_kind(self, key: Key, own: Sequence[Leaf]) -> None:
        by_path = _group_by(own, lambda leaf: leaf.path)
        by_number = _group_by(own, lambda leaf: (leaf.path, leaf.number))
        for way, parts in (("grown", by_path), ("numbered", by_number)):
            grown = [run for part in parts.values() for run in join_runs(leaf.text for leaf in part)]
            pieces = _last_stages([run for run in grown if letters(run.text) != self.said])
            fresh = [run for run in pieces if not self.heard.contains(run)]
            self.add(
                key, way, [one for one in pieces if len(letters(one.text)) < _LONG_TEXT or not self.heard.contains(one)]
            )
            long = sum(len(run.text) >= _LONG_TEXT for run in pieces)
            if len(pieces) <= _MOST_BESIDE or 2 * long > len(pieces):  # else any short piece may have come before
                self.add(key, f"{way}, new", fresh)
            if pieces and not fresh:
                self.add(key, way, pieces[-1:], old=True)
                self.add(key, f"{way}, new", pieces[-1:], old=True)
            if 1 < len(fresh) <= _MOST_BESIDE:
                # One text among several of its kind: a title before a reply, say.
                for run in fresh:
                    self.add(key, "one", [run], [other.text for other in fresh if other is not run])
        self.add(key, "joined", [Run(leaf.text) for leaf in own])
        if plain := decode_pieces([leaf.text for leaf in own]):
            self.add(key, "decoded", [Run("".join(plain))])
        if any(leaf.place is not None for leaf in own):
            self.add(key, "spliced", [Run(splice_pieces((leaf.text, leaf.place) for leaf in own))])

    def add_continued(self, key: Key, begun: Mapping[Leaf, Sequence[Leaf]]) -> None:
        """Add the final forms of texts that came whole and were continued later, first alone and then with all other
        text at the same path."""
        paths = {generalize(leaf.path) for leaf in begun}
        others = [leaf for leaf in self.leaves if leaf not in begun and generalize(leaf.path) in paths]
        fresh = {leaf for leaf in others if all(plain.letters != self.said for plain in readings(leaf.text))}
        texts = {
            leaf: splice_pieces([(leaf.text, None), *((one.text, one.place) for one in begun.get(leaf, ()))])
            for leaf in self.leaves
            if leaf in begun or leaf in fresh
        }
        self.add(key, "written on", [Run(texts[leaf], 2) for leaf in begun])
        self.add(key, "written on, all", [Run(text, 2) for text in texts.values()])

    def strands(self) -> list[Strand]:
        """Return the longest texts. A text that begins with the user's text is also returned without that beginning,
        because a page may receive both together."""
        made: list[Strand] = []
        longest = sorted(self.found.items(), key=lambda one: -len(one[0][0]))[:_MOST_STRANDS]
        for (text, old, beside), (keys, pieces) in longest:
            meant = readings(text)
            whole = meant[0].letters
            if not any(plain.letters for plain in meant) or whole == self.said:
                continue
            made.append(Strand(tuple(keys), meant, pieces, old, beside))
            if self.said and whole.startswith(self.said):
                rest = tuple(plain.drop_first(len(self.said)) for plain in meant if plain.letters.startswith(self.said))
                after = tuple(replace(key, way=f"{key.way}{AFTER_USER}") for key in keys)
                made.append(Strand(after, rest, pieces, old, beside))
        return made


def _last_stages(pieces: list[Run]) -> list[Run]:
    """Leave out texts that arrived in full under another path too: a repeated state may renumber its parts."""
    if len(pieces) > _MOST_BESIDE:
        # A page that rebuilds its bubble with each piece sends every stage to a different place.
        found = join_runs(run.text for run in pieces)
        return found if len(found) <= _FEW_TEXTS else pieces
    return [
        run
        for place, run in enumerate(pieces)
        if len(run.text) < _SHORTEST_STAGE
        or not any(
            is_continuation(run.text, other.text) and (len(other.text) > len(run.text) or place < later)
            for later, other in enumerate(pieces)
            if later != place
        )
    ]


def _group_by(leaves: Sequence[Leaf], by: Callable[[Leaf], object]) -> dict[object, list[Leaf]]:
    found: dict[object, list[Leaf]] = {}
    for leaf in leaves:
        found.setdefault(by(leaf), []).append(leaf)
    return found
