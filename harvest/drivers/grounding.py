"""Grounding metadata of Gemini and Vertex AI: chunks are the sources, and supports name the words that rest on them.

{"groundingChunks": [{"web": {"uri", "title"}}],
 "groundingSupports": [{"segment": {"partIndex", "startIndex", "endIndex", "text"}, "groundingChunkIndices": [0]}]}

Indices of a segment count bytes of UTF-8 from the beginning of its part, and zeros may be left out (google-genai 3.6.1,
google/genai/types.py). A stream splits the parts differently, so its bytes are counted from the beginning of the text.
The words decide: a segment whose `text` is in neither position is placed where this text occurs, if it occurs once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harvest.drivers.received import join_surrogates

_CHUNKS = ("groundingChunks", "grounding_chunks")
_SUPPORTS = ("groundingSupports", "grounding_supports")
_INDICES = ("groundingChunkIndices", "grounding_chunk_indices")
_PART, _BEGIN, _END = ("partIndex", "part_index"), ("startIndex", "start_index"), ("endIndex", "end_index")


@dataclass(frozen=True, slots=True)
class Segment:
    """Words of an answer: the index of their part, the first byte and the byte after the last in this part, and the
    words themselves, or "" if they are missing."""

    part: int
    begin: int
    end: int
    text: str

    def place(self, text: str, starts: Sequence[int]) -> tuple[int, int]:
        """Return the first character and the one after the last in the text, or (-1, -1) if the position is unknown.
        `starts` are the positions of the parts in the text."""
        begins = [starts[self.part]] if self.part < len(starts) else []
        for start in dict.fromkeys((*begins, 0)):
            found = _characters(text[start:], self.begin, self.end)
            if found is not None and (not self.text or text[start:][slice(*found)] == self.text):
                return found[0] + start, found[1] + start
        if self.text.strip() and text.count(self.text) == 1:
            at = text.index(self.text)
            return at, at + len(self.text)
        return -1, -1


def is_grounding(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(_first(value, _CHUNKS), list)


def read_grounding(value: Mapping[str, object]) -> Iterator[tuple[object, list[Segment]]]:
    """Yield every chunk with the segments that it supports. Supports of an unknown shape are passed over."""
    chunks, supports = _first(value, _CHUNKS), _first(value, _SUPPORTS)
    segments: dict[int, list[Segment]] = {}
    for support in supports if isinstance(supports, list) else ():
        if not (isinstance(support, Mapping) and isinstance(told := support.get("segment"), Mapping)):
            continue
        part, begin, end = (_first(told, keys) or 0 for keys in (_PART, _BEGIN, _END))
        words = told.get("text")
        if not all(type(number) is int and number >= 0 for number in (part, begin, end)):
            continue
        segment = Segment(part, begin, end, join_surrogates(words) if isinstance(words, str) else "")  # type: ignore[arg-type]
        indices = _first(support, _INDICES)
        for index in indices if isinstance(indices, list) else ():
            if type(index) is int:
                segments.setdefault(index, []).append(segment)
    for number, chunk in enumerate(chunks if isinstance(chunks, list) else ()):
        yield chunk, segments.get(number, [])


def _first(holder: Mapping[str, object], keys: tuple[str, ...]) -> object:
    return next((holder[key] for key in keys if key in holder), None)


def _characters(text: str, begin: int, end: int) -> tuple[int, int] | None:
    """Return the characters between two bytes of the text, None if the bytes do not begin and end characters."""
    written = text.encode("utf-8", "surrogatepass")
    if not 0 <= begin < end <= len(written):
        return None
    try:
        before, inside = (written[slice(*span)].decode("utf-8", "surrogatepass") for span in ((0, begin), (begin, end)))
    except UnicodeDecodeError:
        return None
    return len(before), len(before) + len(inside)
