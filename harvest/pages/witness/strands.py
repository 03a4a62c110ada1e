"""The texts that came over the wire in one turn, each with the key by which it is known again in other turns.

A key is an address, the path at which the pieces stood, what kind of thing they were, and the way in which they were
put together. Nobody says which of them is the reply: `judgement` learns that over the turns of a run.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harvest.pages.witness.letters import Plain, letters, readings
from harvest.pages.witness.opening import Leaf
from harvest.pages.witness.received import general

# What a growing text has at its end only until it grows: closing tags, marks, a cursor.
_CLOSERS = re.compile(r"(?:\s*</[a-zA-Z][\w-]*>\s*|[\s*_`~|▍▌█●…])+$")
_STABLE = 0.5  # of a text that must stay as it was for the next to be the same one, written on
_SHORTEST = 8  # characters that must stay
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_WRITTEN = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*")


@dataclass(frozen=True, slots=True)
class Run:
    """A text as it was at last. stages: how many different texts it grew through; 1 where it came in one piece."""

    text: str
    stages: int = 1


def runs(pieces: Iterable[str]) -> list[Run]:
    """The texts that pieces make if each either writes the one before it on, whole, or begins another."""
    found: list[Run] = []
    for piece in pieces:
        if found and is_grown(found[-1].text, piece):
            found[-1] = Run(piece, found[-1].stages + (piece != found[-1].text))
        else:
            found.append(Run(piece))
    return found


def is_grown(before: str, after: str) -> bool:
    """Whether `after` is `before` written on, or the same, but for what stood at its end only for the time being."""
    if after.startswith(before):
        return True
    bare = _CLOSERS.sub("", before)
    if bare and after.startswith(bare):
        return True
    same = next((place for place, pair in enumerate(zip(before, after)) if pair[0] != pair[1]), len(before))
    return same >= max(_SHORTEST, _STABLE * len(before)) and len(after) >= 0.8 * len(before)


def spliced(pieces: Iterable[tuple[str, int | None]]) -> str:
    """The text that pieces make of which each is written over what stands from its place on; without a place at the
    end."""
    text = ""
    for piece, place in pieces:
        text = text[: len(text) if place is None else place] + piece
    return text


def decoded(pieces: Sequence[str]) -> list[str]:
    """What the pieces hold if every one of them is base64 and all together are UTF-8 text; [] where they are not. Words
    of four letters may be base64 by chance."""
    if not all(len(piece) % 4 == 0 and _BASE64.fullmatch(piece) for piece in pieces):
        return []
    decoder = codecs.getincrementaldecoder("utf-8")()  # a character may be torn apart
    try:
        texts = [decoder.decode(base64.b64decode(piece, validate=True)) for piece in pieces]
        whole = "".join([*texts, decoder.decode(b"", final=True)])
    except (binascii.Error, ValueError):
        return []
    return texts if whole and _WRITTEN.fullmatch(whole) else []


_LONG = 20  # letters from which on a text that came in an earlier turn is no piece of a new one
_MOST_KNOWN = 20_000  # texts of earlier turns that are remembered
_MOST_STRANDS = 400  # of one turn, the longest ones
_SHORTEST_STAGE = 8  # characters from which on a text that another begins with is a stage of it
_FEW = 3  # texts that many pieces at places of their own make if each but a few writes the one before it on
_MOST_BESIDE = 12  # texts of one kind, each of which may be the reply; more are pieces of one


@dataclass(frozen=True, slots=True)
class Key:
    """address: as in `received`. path: general, `*` for what differs from message to message. names: what the messages
    call it. way: how the pieces were put together."""

    address: str
    path: str
    names: tuple[str, ...]
    way: str

    @property
    def parts(self) -> tuple[str, str, str, str]:
        return self.address, self.path, " ".join(self.names), self.way


@dataclass(frozen=True, slots=True)
class Strand:
    """A text that came. keys: all that lead to it. readings: what it may mean, the likeliest first. pieces: how many it
    was made of. old: it came before in this conversation, and in one piece now. beside: other texts under the same key
    that are no part of it."""

    keys: tuple[Key, ...]
    readings: tuple[Plain, ...]
    pieces: int
    old: bool = False
    beside: tuple[str, ...] = ()

    @property
    def letters(self) -> str:
        return self.readings[0].letters


@dataclass(slots=True)
class Heard:
    """The texts that came earlier in a conversation, by their letters."""

    texts: set[str] = field(default_factory=set)

    def add(self, leaves: Iterable[Leaf]) -> None:
        """Remember the texts of a turn that is over."""
        own = list(leaves)
        for part in _apart(own, lambda leaf: (leaf.address, leaf.path, leaf.number)).values():
            grown = runs(leaf.text for leaf in part)
            whole = [Run("".join(run.text for run in grown))] if len(grown) > 1 else []
            for run in (*grown, *whole):
                if len(self.texts) < _MOST_KNOWN:
                    self.texts.add(letters(run.text))

    def knows(self, run: Run) -> bool:
        return run.stages == 1 and letters(run.text) in self.texts


def strands(leaves: Sequence[Leaf], said: str, heard: Heard) -> list[Strand]:
    """The texts of one turn. said: the user's words, which are nobody's reply."""
    own_words = letters(said)
    found: dict[tuple[str, bool, tuple[str, ...]], tuple[list[Key], int]] = {}

    def add(key: Key, pieces: Sequence[Run], beside: Sequence[str] = (), *, old: bool = False) -> None:
        text = "".join(run.text for run in pieces) if key.way == "joined" else "\n\n".join(run.text for run in pieces)
        if text.strip():
            keys, _ = found.setdefault((text, old, tuple(beside)), ([], sum(run.stages for run in pieces)))
            keys.append(key)

    begun = _begun(leaves)
    for (address, path, names), own in _kinds(leaves).items():
        # What was written on is a stage of what it became: a page that was cut would be equal to it.
        _told(Key(address, path, names, ""), [leaf for leaf in own if leaf not in begun], own_words, heard, add)
        on = {leaf: pieces for leaf, pieces in begun.items() if pieces[0] in own}
        for way, texts in _written_on(on, leaves, own_words).items():
            add(Key(address, path, names, way), [Run(text, 2) for text in texts])
    longest = sorted(found.items(), key=lambda one: -len(one[0][0]))[:_MOST_STRANDS]
    return [
        made
        for (text, old, beside), (keys, pieces) in longest
        for made in _made(text, tuple(keys), pieces, old, beside, own_words)
    ]


def _made(
    text: str, keys: tuple[Key, ...], pieces: int, old: bool, beside: tuple[str, ...], said: str
) -> Iterator[Strand]:
    """The strand, and where the user's words are in front of it the one without them: a page may send both in one
    fragment."""
    meant = readings(text)
    if not any(plain.letters for plain in meant) or meant[0].letters == said:
        return
    yield Strand(keys, meant, pieces, old, beside)
    if said and meant[0].letters.startswith(said) and len(meant[0].letters) > len(said):
        rest = tuple(_without(plain, len(said)) for plain in meant if plain.letters.startswith(said))
        after = tuple(Key(key.address, key.path, key.names, f"{key.way} after the user's words") for key in keys)
        yield Strand(after, rest, pieces, old, beside)


def _without(plain: Plain, count: int) -> Plain:
    """A text without its first letters."""
    for place, character in enumerate(plain.shown):
        if count <= 0:
            return Plain.of(plain.shown[place:])
        count -= len(letters(character))
    return Plain.of("")


def _kinds(leaves: Sequence[Leaf]) -> dict[tuple[str, str, tuple[str, ...]], list[Leaf]]:
    """The leaves by kind, with their names and without; and all of a request together, whose parts may be split over
    paths."""
    found: dict[tuple[str, str, tuple[str, ...]], list[Leaf]] = {}
    for leaf in leaves:
        path = general(leaf.path)
        found.setdefault((leaf.address, path, ()), []).append(leaf)
        if leaf.names:
            found.setdefault((leaf.address, path, leaf.names), []).append(leaf)
    return found


def _told(key: Key, own: Sequence[Leaf], said: str, heard: Heard, add: Callable[..., None]) -> None:
    """All texts that the leaves of one kind may make, each by its way."""

    def kept(pieces: Iterable[Run]) -> list[Run]:
        return [run for run in pieces if letters(run.text) != said]

    def way(name: str) -> Key:
        return Key(key.address, key.path, key.names, name)

    by_path = [runs(leaf.text for leaf in part) for part in _apart(own, lambda leaf: leaf.path).values()]
    by_number = [
        runs(leaf.text for leaf in part) for part in _apart(own, lambda leaf: (leaf.path, leaf.number)).values()
    ]
    for name, parts in (("grown", by_path), ("numbered", by_number)):
        pieces = _last_stages(kept(run for part in parts for run in part))
        fresh = [run for run in pieces if not heard.knows(run)]
        add(way(name), [run for run in pieces if len(letters(run.text)) < _LONG or not heard.knows(run)])
        long = sum(len(run.text) >= _LONG for run in pieces)
        if len(pieces) <= _MOST_BESIDE or 2 * long > len(pieces):  # else any short piece may have come before
            add(way(f"{name}, new"), fresh)
        if pieces and not fresh:
            add(way(name), pieces[-1:], old=True)
            add(way(f"{name}, new"), pieces[-1:], old=True)
        if 1 < len(fresh) <= _MOST_BESIDE:
            # One text among several of its kind: a title before a reply, say.
            for run in fresh:
                add(way("one"), [run], [other.text for other in fresh if other is not run])
    add(way("joined"), [Run(leaf.text) for leaf in own])
    if plain := decoded([leaf.text for leaf in own]):
        add(way("decoded"), [Run("".join(plain))])
    if any(leaf.place is not None for leaf in own):
        add(way("spliced"), [Run(spliced((leaf.text, leaf.place) for leaf in own))])


def _begun(leaves: Sequence[Leaf]) -> dict[Leaf, list[Leaf]]:
    """Texts that came whole, as the text of a thing when it was made, with the pieces that were spliced into them from
    another path: they name the thing by its number."""
    found: dict[Leaf, list[Leaf]] = {}
    for number, pieces in _apart([leaf for leaf in leaves if leaf.place], lambda leaf: leaf.number).items():
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
            found[before[-1]] = pieces
    return found


def _written_on(begun: Mapping[Leaf, Sequence[Leaf]], leaves: Sequence[Leaf], said: str) -> dict[str, list[str]]:
    """What became of them: of those alone, and with all else that came at the same path."""
    if not begun:
        return {}
    paths = {general(leaf.path) for leaf in begun}
    others = [leaf for leaf in leaves if leaf not in begun and general(leaf.path) in paths]
    fresh = {leaf for leaf in others if all(plain.letters != said for plain in readings(leaf.text))}
    texts = {
        leaf: spliced([(leaf.text, None), *((one.text, one.place) for one in begun.get(leaf, ()))])
        for leaf in leaves
        if leaf in begun or leaf in fresh
    }
    return {"written on": [texts[leaf] for leaf in begun], "written on, all": list(texts.values())}


def _last_stages(pieces: list[Run]) -> list[Run]:
    """Without those that came whole, or further, at another path: a state that is sent again counts its parts anew."""
    if len(pieces) > _MOST_BESIDE:
        # A page that makes its bubble anew with each piece sends every stage to a place of its own.
        found = runs(run.text for run in pieces)
        return found if len(found) <= _FEW else pieces
    return [
        run
        for place, run in enumerate(pieces)
        if len(run.text) < _SHORTEST_STAGE
        or not any(
            is_grown(run.text, other.text) and (len(other.text) > len(run.text) or place < later)
            for later, other in enumerate(pieces)
            if later != place
        )
    ]


def _apart(leaves: Sequence[Leaf], by: Callable[[Leaf], object]) -> dict[object, list[Leaf]]:
    found: dict[object, list[Leaf]] = {}
    for leaf in leaves:
        found.setdefault(by(leaf), []).append(leaf)
    return found
