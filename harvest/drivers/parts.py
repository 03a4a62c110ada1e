"""The parts of an answer, collected in the same way by all drivers.

A content is a string, or a list of parts as sent by OpenAI, Anthropic, Mistral and Gemini. Parts that are not for the
user (thoughts and tool calls) never become text. Unknown parts remain in the evidence.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from harvest.drivers.grounding import Segment, is_grounding, read_grounding
from harvest.drivers.received import excerpt, join_surrogates
from harvest.drivers.sources import sources_in
from harvest.drivers.stream_text import DOUBTED, REPEATED, StreamText, stream_text
from harvest.drivers.tool_calls import UNKNOWN_CALL, StreamedCalls, is_call
from protocols.answer import Answer, Attachment, Offer, Source
from protocols.thoughts import split_thoughts

# The note on an answer with marks of thinking at the beginning.
THOUGHT_ALOUD = "it thought aloud at the beginning of its text; the thoughts are kept apart from the answer"

# The note on an answer that may be more than what was read.
UNKNOWN_PART = "the content holds words in a part of a kind that is not known: see the evidence"
# The note on an answer with something among its sources that has neither an address nor a title.
UNKNOWN_SOURCE = "a source has a shape that is not known: see the evidence"
# The note on a reply that brought what a tool answered, or the user's words again.
OTHER_ROLE = "a message of another role than the assistant's came with the reply; it is no part of the answer"
OTHER_ROLES = frozenset({"tool", "function", "ipython", "observation", "user", "human", "system", "developer"})
# The note on an answer with different words in its sound and its text.
SPOKEN_TOO = "the system wrote one text and spoke another; the answer is both"

_LONGEST_LINE = 4096
_DEEPEST_THOUGHT = 6
_TEXT_TYPES = ("text", "output_text", "input_text", "text_delta")
_THOUGHT_TYPES = (
    *("thinking", "reasoning", "reasoning_text", "reasoning_content", "thought", "redacted_thinking", "reasoning.text"),
    *("reasoning.summary", "reasoning.encrypted", "summary_text", "thinking_delta", "signature_delta"),
)
# Keys for thoughts in a part without a type: Bedrock's, and those of gateways.
_UNTYPED_THOUGHT_KEYS = ("reasoningContent", "thought")
_THOUGHT_TEXT_KEYS = ("thinking", "text", "summary", "reasoning", "reasoningText", "content")
# The Vercel AI SDK's, and those of annotations that stand among the parts.
_SOURCE_TYPES = ("source", "source-url", "source-document", "url_citation", "file_citation")
_SOUND_TYPES = ("audio", "input_audio", "output_audio")
_FILE_TYPES = ("image", "image_url", "output_image", *_SOUND_TYPES, "file", "document", "video")
# Keys for a file in a part without a type: Gemini's.
_UNTYPED_FILE_KEYS = frozenset({"inlineData", "fileData"})


class MisshapenError(ValueError):
    """A value of the wrong type for its position in a content. Each driver reports this error under its own reason."""

    def __init__(self, what: str, value: object) -> None:
        super().__init__(f"{what} cannot be {type(value).__name__}: {excerpt(repr(value), 80)}")


class Parts:
    """A collector of the parts of an answer. Set `streamed` if the parts come in pieces, which may be repeated.
    `pieces` are the pieces of the text, and `refusals` the pieces of a separate refusal. `final_text` is the
    complete text if a stream repeats it at its end. `restarts` has the indices of the pieces at which a stream
    began again. `answer` sets `said_once`, the text without repetitions but with its marked thoughts."""

    def __init__(self, *, streamed: bool = False) -> None:
        self.streamed = streamed
        self.pieces: list[str] = []
        self.refusals: list[str] = []
        self._spoken: list[str] = []
        self._sound: str | None = None
        self.restarts: set[int] = set()
        self.final_text = ""
        self._thoughts: dict[str, list[str]] = {}
        self._sources: list[Source] = []
        self._grounded: list[tuple[Source, list[Segment]]] = []
        self._starts: list[int] = []
        self._calls = [StreamedCalls()]  # one for a stream, else one for each call
        self._offers: list[Offer] = []
        self._attachments: list[Attachment] = []
        self._notes: dict[str, None] = {}
        self._length = 0
        self.said_once = ""

    @property
    def received_text(self) -> str:
        """The text received so far. Without text, this is the transcript of speech, or otherwise the refusal."""
        return "".join(self.pieces) or "".join(self._spoken) or "".join(self.refusals)

    @property
    def characters(self) -> int:
        """The number of characters received so far, including speech and refusals."""
        return self._length + sum(map(len, (*self._spoken, *self.refusals)))

    def add_content(self, content: object) -> None:
        """Add a content. Raises MisshapenError unless the value is a string, a list of parts or None."""
        if isinstance(content, str):
            self.add_text(content)
        elif isinstance(content, list):
            for part in content:
                self.add_part(part)
        elif content is not None:
            raise MisshapenError("content", content)

    def add_part(self, part: object) -> None:
        """Add one part of a content. Raises MisshapenError unless the value is a string or an object."""
        self._starts.append(self._length)
        if isinstance(part, str):
            self.add_text(part)
            return
        if not isinstance(part, Mapping):
            raise MisshapenError("a part of the content", part)
        kind, text = part.get("type", "text"), part.get("text")
        inner = part.get("content", part.get("parts"))
        if isinstance(inner, (str, list)) and (kind == "message" or not {"type", "text"} & part.keys()):
            self._add_message(part.get("role"), inner)
            return
        if part.get("thought") is True or kind in _THOUGHT_TYPES:
            self.add_thoughts(part)
            return
        for key in _UNTYPED_THOUGHT_KEYS:
            if isinstance(part.get(key), (str, Mapping)):
                self.add_thoughts(part[key])
        if isinstance(part.get("citation"), Mapping):
            self.add_sources(part["citation"])
        if kind == "refusal":
            self.add_refusal(part.get("refusal"))
        elif is_call(part):
            self.add_calls(part)
        elif kind in _SOURCE_TYPES:
            self.add_sources(part)
        elif kind in _SOUND_TYPES:
            self.add_speech(part)
        elif kind in _FILE_TYPES or not _UNTYPED_FILE_KEYS.isdisjoint(part):
            self.add_attachments(next((part[key] for key in _UNTYPED_FILE_KEYS if key in part), part))
        elif kind in _TEXT_TYPES:
            begin, annotations = self._length, part.get("annotations")
            offset = begin
            if isinstance(text, Mapping):  # the Assistants API's, which counts places from the beginning of all pieces
                counted, offset = text, 0 if self.streamed else begin
                text, annotations = counted.get("value"), counted.get("annotations")
            if text is not None and not isinstance(text, str):
                raise MisshapenError("the text of a part", text)
            self.add_text(text or "")
            self.add_sources(annotations, offset)
            for cited in sources_in(part.get("citations")):
                # Anthropic cuts its text where a citation begins and ends: the part is the place.
                inside = text is not None and bool(text.strip())
                self._sources.append(replace(cited, start=begin, end=self._length) if inside else cited)
        elif isinstance(text, str) and text.strip():
            self.note(UNKNOWN_PART)

    def _add_message(self, role: object, content: object) -> None:
        if isinstance(role, str) and role.lower() in OTHER_ROLES:
            self.note(OTHER_ROLE)
        else:
            self.add_content(content)

    @property
    def is_empty(self) -> bool:
        """True if nothing was added."""
        kept = (*self.pieces, *self._thoughts.values(), *self._sources, *self._attachments, *self._notes)
        return not (self.characters or any(kept) or any(any(one.read_calls()) for one in self._calls))

    def add_value(self, value: object, join: str) -> None:
        """Add a string, a part or a list of parts, with `join` before it. Raises MisshapenError for any other value."""
        joined = join if self._length else ""
        before = len(self.pieces)
        self.add_text(joined)
        length = self._length
        if isinstance(value, Mapping):
            self.add_part(value)
        elif isinstance(value, list) and not all(isinstance(part, Mapping) for part in value):
            raise MisshapenError("a reply", value)
        else:
            self.add_content(value)
        if self._length == length and joined and not isinstance(value, str):  # parts for other readers
            del self.pieces[before:]
            self._length -= len(joined)

    def add_text(self, text: str) -> None:
        self.pieces.append(text)
        self._length += len(text)

    def forget_text(self) -> None:
        """Discard the text received so far, because the next text replaces it."""
        self.pieces.clear()
        self.restarts.clear()
        self._starts.clear()
        self._length = 0

    def add_refusal(self, refusal: object) -> None:
        """Add a refusal. Raises MisshapenError unless the value is a string, a list of parts or None."""
        holder = Parts()
        holder.add_content(refusal)
        self.refusals += [piece for piece in (*holder.pieces, *holder.refusals) if piece]

    def add_thoughts(self, value: object, field: str = "") -> None:
        """Add thoughts: a string, or lists and objects that contain strings. Every value is accepted, since no measure
        depends on thoughts. `field` is the name of the field with the thoughts, because gateways send the same
        thoughts in several fields."""
        self._thoughts.setdefault(field, []).extend(_strings_in(value))

    def add_sources(self, value: object, offset: int = 0, place: str = "beside") -> None:
        items = [item for item in (value if isinstance(value, list) else [value]) if not self._add_grounding(item)]
        self._sources += [replace(source, place=place) for source in sources_in(items, offset)]
        if any(isinstance(item, Mapping) and item and not any(sources_in(item)) for item in items):
            self.note(UNKNOWN_SOURCE)

    def _add_grounding(self, value: object) -> bool:
        if not (isinstance(value, Mapping) and is_grounding(value)):
            return False
        for chunk, segments in read_grounding(value):
            sources = [replace(source, place="beside") for source in sources_in(chunk)]
            self._grounded += [(source, segments) for source in sources]
            if chunk and not sources:
                self.note(UNKNOWN_SOURCE)
        return True

    def add_calls(self, value: object) -> None:
        """Add tool calls, or pieces of tool calls in a stream. Values of other types are ignored."""
        if self.streamed:
            self._calls[-1].add_calls(value)
            return
        for item in value if isinstance(value, list) else [value]:
            self._calls.append(StreamedCalls())
            self._calls[-1].add_calls(item)

    def add_offers(self, value: object) -> None:
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and item.strip():
                self._offers.append(Offer(_short_line(item)))
            elif isinstance(item, Mapping):
                title = _first_string(item, ("title", "text", "label", "name", "question"))
                value_sent = _first_string(item, ("value", "payload", "href", "url", "link"))
                if not value_sent and (sent := item.get("request") or item.get("value")):  # Voiceflow's is an object
                    value_sent = json.dumps(sent, ensure_ascii=False)
                kind = _first_string(item, ("kind", "type")) or "reply"
                if title or value_sent:
                    self._offers.append(Offer(title or value_sent, value_sent if title else "", kind))

    def add_attachments(self, value: object) -> None:
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and item.strip():
                self._attachments.append(Attachment(_file_name(item)))
            elif isinstance(item, Mapping):
                self._attachments.append(_read_attachment(item))

    def add_speech(self, value: object) -> None:
        """Add speech, or a piece of speech, with its transcript. In a stream, only the first piece may have the id."""
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, Mapping) or not item:
                continue
            inner = next((item[key] for key in _SOUND_TYPES if isinstance(item.get(key), Mapping)), item)
            if isinstance(said := inner.get("transcript"), str):
                self._spoken.append(said)
            name = _first_string(inner, ("id",))
            if self._sound is None or not self.streamed or name not in ("", self._sound):
                self._attachments.append(_read_attachment({"type": "audio", **item}))
                self._sound = name

    def note(self, sentence: str) -> None:
        self._notes[sentence] = None

    def answer(self, *, thoughts_apart: bool = True) -> tuple[Answer, tuple[str, ...]]:
        """Return the answer and notes on how it arrived. `thoughts_apart` removes marked thoughts from the text."""
        notes = dict(self._notes)
        calls = [one.read_calls() for one in self._calls]
        if any(unread for _, unread in calls):
            notes[UNKNOWN_CALL] = None
        joined = [self._join_texts(self.pieces, restarts=self.restarts), self._join_texts(self.refusals)]
        joined.append(self._join_texts(self._spoken, "\n\n"))
        text, refusal, spoken = (one.text for one in joined)
        notes |= dict.fromkeys([REPEATED] * any(one.repeated for one in joined))
        notes |= dict.fromkeys([DOUBTED] * any(bool(one.once) for one in joined))
        if spoken.strip() and spoken.strip() not in text:
            if text.strip():
                notes[SPOKEN_TOO] = None
            text = "\n\n".join(filter(None, (text.rstrip(), spoken)))
        self.said_once = (text or refusal).strip()
        sources = self._ground_sources(text)
        aloud, begin, end = split_thoughts(text) if thoughts_apart else ("", 0, len(text))
        if begin:
            notes[THOUGHT_ALOUD] = None
        text = text[begin:end]
        thoughts = dict.fromkeys(
            self._join_texts(several, "\n\n").text.strip() for several in (*self._thoughts.values(), [aloud])
        )
        answer = Answer.of(text if text.strip() else refusal or text, sources=_place_sources(sources, text, begin))
        return replace(
            answer,
            thoughts=join_surrogates("\n\n".join(filter(None, thoughts))),
            calls=tuple(call for several, _ in calls for call in several),
            offers=tuple(self._offers),
            attachments=tuple(self._attachments),
            refused=bool(refusal.strip()),
            refusal=refusal if text.strip() and refusal.strip() else "",
        ), tuple(notes)

    def _ground_sources(self, text: str) -> list[Source]:
        """Return all sources, those of grounding metadata at the words that they support."""
        grounded: list[Source] = []
        for source, segments in self._grounded:
            spans = {segment.place(text, () if self.streamed else self._starts) for segment in segments}
            grounded += [replace(source, start=start, end=end) for start, end in sorted(spans) or [(-1, -1)]]
        # LiteLLM gives the same sources as annotations, too, and their bytes as if they were characters.
        known = {source.href for source in grounded if source.href}
        return [source for source in self._sources if source.href not in known] + grounded

    def _join_texts(self, pieces: Sequence[str], between: str = "", restarts: Collection[int] = ()) -> StreamText:
        if not self.streamed:
            return StreamText(join_surrogates(between.join(pieces)))
        found = stream_text(pieces, restarts, self.final_text)
        return replace(found, text=join_surrogates(found.text))


def _place_sources(given: Iterable[Source], text: str, shift: int) -> list[Source]:
    by_name: dict[str, list[Source]] = {}
    for source in given:
        start, end = source.start - shift, source.end - shift
        if source.start < 0 or start < 0 or end > len(text):
            start = end = -1
        placed = replace(source, start=start, end=end)
        known = by_name.setdefault(placed.href or placed.title, [])
        if known and not known[0].title and placed.title:
            known[:] = [replace(one, title=placed.title) for one in known]
        if known and not placed.title:
            placed = replace(placed, title=known[0].title)
        if known and known[0].start < 0 <= placed.start:
            known[:] = [placed]
        elif not known or (placed.start >= 0 and placed not in known):
            known.append(placed)
    return [source for several in by_name.values() for source in several]


def _strings_in(value: object, depth: int = 0) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif depth == _DEEPEST_THOUGHT:
        return
    elif isinstance(value, list):
        for item in value:
            yield from _strings_in(item, depth + 1)
    elif isinstance(value, Mapping):
        for key in (*_THOUGHT_TEXT_KEYS, "thought"):
            if isinstance(value.get(key), (str, list, Mapping)) and value[key]:
                yield from _strings_in(value[key], depth + 1)
                return


def _read_attachment(item: Mapping[str, object]) -> Attachment:
    inner = next((item[key] for key in _FILE_TYPES if isinstance(item.get(key), Mapping)), None)
    holder: Mapping[str, object] = {**item, **inner} if isinstance(inner, Mapping) else item
    media_type = _first_string(holder, ("mimeType", "mime_type", "media_type", "content_type", "format"))
    name = _first_string(holder, ("name", "filename", "title", "url", "image_url", "fileUri", "file_id", "id"))
    size = holder.get("size", holder.get("bytes"))
    whole = isinstance(size, int) and not isinstance(size, bool) and size >= 0
    return Attachment(_file_name(name), media_type or _first_string(item, ("type",)), size if whole else None)  # type: ignore[arg-type]


def _file_name(name: str) -> str:
    """Return the name of a file. For a data URL, which contains the file itself, the name is ""."""
    return "" if name[:5].lower() == "data:" else _short_line(name)


def _first_string(holder: Mapping[str, object], keys: Iterable[str]) -> str:
    return next((_short_line(found) for key in keys if isinstance(found := holder.get(key), str) and found.strip()), "")


def _short_line(text: str) -> str:
    return excerpt(join_surrogates(text), _LONGEST_LINE)
