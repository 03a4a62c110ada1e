"""Topic files, `format: harvest-topics/1`, read strictly, and their form as a JSON value inside a run."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError

from topics.attributes import AttributeSet, normalise_shares, uniform_shares
from topics.cut_text import Phrase, Said
from topics.document import Document, StrictModel, form_validator, name_validator
from topics.errors import InputError, suggestion
from topics.kinds import KINDS, UrlKind
from topics.names import LONGEST, first_lookalikes
from topics.quantities import read_quantity
from topics.sent_files import SentFile, file_row, read_sent_file
from topics.topic import ID_SIGNS, LANGUAGE_TAG, Topic, TopicSet, TopicType
from topics.unseen_characters import character_name, find_unseen, has_visible_text
from topics.yaml_values import Loc

FORMAT = "harvest-topics/1"

_NOTHING: Mapping[str, Any] = MappingProxyType({})  # one for all topics: two for each would be a tenth of a large set

Name = Annotated[str, Field(max_length=LONGEST), name_validator(ID_SIGNS)]

Language = Annotated[str, form_validator(LANGUAGE_TAG, "the code of a language, such as de or pt-BR")]


def _check_size(number: int | float) -> int | float:
    """Reject whole numbers in JSON and YAML that no float can represent."""
    if not -1e300 < number < 1e300:
        raise ValueError("the number is too large")
    return number


Number = Annotated[int | float, AfterValidator(_check_size)]


class _Url(StrictModel):
    hosts: Annotated[tuple[str, ...], Field(min_length=1)]
    path: str
    name: str = ""
    query: str = ""
    identity: str = ""
    also: "tuple[_Url, ...]" = ()


class AttributeEntry(StrictModel):
    scale: Literal["ordinal", "nominal"]
    groups: tuple[str, ...] | None = None
    bounds: tuple[Number | str, ...] = ()
    gold: str | tuple[Number, ...] | dict[str, Number] = "uniform"
    mapping: str = ""
    of: str = ""


class _Type(StrictModel):
    asks_for: Phrase = ""
    url: str | _Url | None = None
    attributes: tuple[str, ...] = ()


class _File(StrictModel):
    """A file to send: `path` and `type` as written, or what a run says of it, without its path."""

    path: str = ""
    type: Annotated[str, form_validator(r"[a-z]+/[A-Za-z0-9.+-]+", "a media type, such as image/png")]
    name: str = ""
    size: int = 0
    sha256: str = ""


class _Topic(StrictModel):
    id: Name
    type: str
    request: Said = ""
    subject: Said = ""
    turns: tuple[Said, ...] = ()
    fields: dict[str, Said] = Field(default_factory=dict)
    asks_for: Phrase = ""
    cluster: Name | None = None
    translations: dict[Language, dict[str, Said]] = Field(default_factory=dict)
    files: tuple[str | _File, ...] = ()


class _TopicFile(StrictModel):
    format: Literal["harvest-topics/1"]
    name: Name
    about: str = ""
    attributes: dict[Name, AttributeEntry] = Field(default_factory=dict)
    types: dict[Name, _Type]
    topics: tuple[_Topic, ...]
    left_out: tuple[str, ...] = ()


def read_topics(document: Document) -> TopicSet:
    """Return the topic set in a parsed file. Raises InputError, with its place, for the first fault."""
    if isinstance(document.value, dict) and document.value.get("format", FORMAT) != FORMAT:
        raise document.other_format_error(FORMAT) or document.error(
            ("format",), "this is not a topic file of a known version", allowed=f"format: {FORMAT}"
        )
    try:
        return _read_topics(document)
    except (InputError, ValidationError):
        # What is wrong in the form of any topic comes before what is wrong in the content of one.
        document.validate_as(_TopicFile)
        raise


def _read_topics(document: Document) -> TopicSet:
    value = document.value
    listed = value.get("topics") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(listed, tuple):
        document.validate_as(_TopicFile)
        raise AssertionError("a set without topics must fail validation")
    # Topics are validated one by one: the validated forms of all of them would take more memory than the set.
    file = _TopicFile.model_validate({**value, "topics": ()})
    attributes = {name: read_attribute(document, name, entry) for name, entry in file.attributes.items()}
    types = {name: _read_type(document, name, entry, attributes) for name, entry in file.types.items()}
    if not listed:
        raise document.error(("topics",), "the topic set is empty", advice="list at least one topic")
    topics: dict[str, Topic] = {}
    for i, entry in enumerate(map(_Topic.model_validate, listed)):
        loc: Loc = ("topics", i)
        if entry.id in topics:
            first = document.place(("topics", list(topics).index(entry.id), "id"))
            raise document.error((*loc, "id"), f"the id {entry.id!r} is already used by the topic at line {first.line}")
        topics[entry.id] = _read_topic(document, loc, entry, types)
    if alike := first_lookalikes(topics):
        what = f"the ids {alike[0]!r} and {alike[1]!r} look alike"
        raise document.error(("topics", list(topics).index(alike[1]), "id"), what, advice="rename one")
    return TopicSet(file.name, tuple(topics.values()), MappingProxyType(attributes), file.about.strip(), file.left_out)


def encode_topics(topics: TopicSet) -> dict[str, Any]:
    """Return the set as a JSON value. Raises InputError if two different topic types have the same name."""
    types: dict[str, TopicType] = {}
    for topic in topics.topics:
        if types.setdefault(topic.type.name, topic.type) != topic.type:
            raise InputError(f"two different topic types are called {topic.type.name!r}")
    return {
        "format": FORMAT,
        "name": topics.name,
        "about": topics.about,
        "attributes": {
            name: {
                "scale": attribute.scale,
                "groups": list(attribute.groups),
                "bounds": list(attribute.bounds),
                "gold": list(attribute.gold),
                "mapping": attribute.mapping,
                "of": attribute.of,
            }
            for name, attribute in topics.attributes.items()
        },
        "types": {
            name: {
                "asks_for": entry.asks_for,
                "url": _encoded_kind(entry.url) if entry.url else None,
                "attributes": list(entry.attributes),
            }
            for name, entry in types.items()
        },
        "topics": [
            {
                "id": topic.id,
                "type": topic.type.name,
                "request": topic.request,
                "subject": topic.subject,
                "turns": list(topic.turns),
                "fields": dict(topic.fields),
                "asks_for": topic.format,
                **({"cluster": topic.cluster} if topic.cluster else {}),  # so that sets without any are unchanged
                **({"translations": {k: dict(v) for k, v in own.items()}} if (own := topic.translations) else {}),
                **({"files": [file_row(one) for one in topic.files]} if topic.files else {}),
            }
            for topic in topics.topics
        ],
        "left_out": list(topics.left_out),
    }


def decode_topics(value: object, path: str = "run.json") -> TopicSet:
    """Return the set encoded by `encode_topics`. Error messages refer to the value as `path`. Raises InputError."""
    marks: dict[Loc, tuple[int, int]] = {}
    plain = _as_tuples(value, (), marks)
    return read_topics(Document(path, plain, marks, marks))


def _encoded_kind(kind: UrlKind) -> str | dict[str, Any]:
    if KINDS.get(kind.name) == kind:
        return kind.name
    return {
        "name": kind.name,
        "hosts": list(kind.hosts),
        "path": kind.path,
        "query": kind.query,
        "identity": kind.identity,
        "also": [_encoded_kind(shape) for shape in kind.also],
    }


def _as_tuples(value: object, loc: Loc, marks: dict[Loc, tuple[int, int]]) -> object:
    marks[loc] = (0, 0)
    if isinstance(value, Mapping):
        return {key: _as_tuples(item, (*loc, key), marks) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_as_tuples(item, (*loc, i), marks) for i, item in enumerate(value))
    return value


def _read_topic(document: Document, loc: Loc, entry: _Topic, types: Mapping[str, TopicType]) -> Topic:
    kind = types.get(entry.type)
    if kind is None:
        raise document.error(
            (*loc, "type"), f"unknown type {entry.type!r}{suggestion(entry.type, types)}", allowed=", ".join(types)
        )
    for words, key in ((entry.request, ("request",)), *((turn, ("turns", i)) for i, turn in enumerate(entry.turns))):
        if words.strip() and not (words.isascii() and words.isprintable()) and not has_visible_text(words):
            seen = ", ".join(map(character_name, find_unseen(words)))
            raise document.error((*loc, *key), f"the text has only invisible characters: {seen}", advice="write words")
    if not entry.request.strip() and not entry.turns:
        raise document.error(
            loc, f"topic {entry.id!r} has neither a request nor turns", advice="say what the user wants"
        )
    for i, turn in enumerate(entry.turns):
        if not turn.strip():
            raise document.error((*loc, "turns", i), "the turn is empty")
    return Topic(
        id=entry.id,
        type=kind,
        request=entry.request.strip(),
        subject=entry.subject.strip(),
        turns=tuple(turn.strip() for turn in entry.turns),
        fields=MappingProxyType(dict(entry.fields)) if entry.fields else _NOTHING,
        format=entry.asks_for.strip(),
        cluster=entry.cluster,
        translations=MappingProxyType({k: MappingProxyType(own) for k, own in entry.translations.items()})
        if entry.translations
        else _NOTHING,
        files=tuple(_read_file(document, (*loc, "files", i), one) for i, one in enumerate(entry.files)),
    )


def _read_file(document: Document, loc: Loc, entry: str | _File) -> SentFile:
    if isinstance(entry, _File) and entry.sha256:
        return SentFile(entry.name, entry.type, entry.size, entry.sha256)
    path, kind = (entry, "") if isinstance(entry, str) else (entry.path, entry.type)
    with document.add_place(loc):
        return read_sent_file(Path(document.path).parent, path, kind)


def _read_type(document: Document, name: str, entry: _Type, attributes: Mapping[str, AttributeSet]) -> TopicType:
    loc: Loc = ("types", name)
    for i, attribute in enumerate(entry.attributes):
        if attribute not in attributes:
            raise document.error(
                (*loc, "attributes", i),
                f"unknown attribute set {attribute!r}{suggestion(attribute, attributes)}",
                allowed=", ".join(attributes) or "this file defines none",
            )
        if attribute in entry.attributes[:i]:
            raise document.error((*loc, "attributes", i), f"{attribute!r} is listed twice")
    kind = None
    if isinstance(entry.url, str):
        kind = KINDS.get(entry.url)
        if kind is None:
            raise document.error(
                (*loc, "url"),
                f"unknown kind of URL {entry.url!r}{suggestion(entry.url, KINDS)}",
                allowed=f"{', '.join(KINDS)}, or a mapping with hosts and path",
            )
    elif entry.url is not None:
        try:
            kind = _make_kind(entry.url, entry.url.name or name)
        except ValueError as fault:
            raise document.error((*loc, "url"), str(fault)) from None
    return TopicType(name, entry.asks_for.strip(), kind, entry.attributes)


def _make_kind(entry: _Url, name: str) -> UrlKind:
    also = tuple(_make_kind(shape, shape.name or name) for shape in entry.also)
    return UrlKind(name, entry.hosts, entry.path, entry.query, entry.identity, also)


def read_attribute(document: Document, name: str, entry: AttributeEntry) -> AttributeSet:
    """Return the attribute set `name` of a document. Raises InputError, with its place, for the first fault."""
    loc: Loc = ("attributes", name)
    if name in ("topic", "entity", "grade", "title"):
        raise document.error(loc, f"{name!r} is a column of every gold table and cannot name an attribute set")
    bounds: list[float] = []
    for i, bound in enumerate(entry.bounds):
        if isinstance(bound, str):
            try:
                found = {part.low if part.low == part.high else None for part in read_quantity(bound)}
            except ValueError as fault:
                raise document.error((*loc, "bounds", i), str(fault)) from None
            exact = found.pop() if len(found) == 1 else None
            if exact is None:
                what = f"{bound!r} is not one number"
                raise document.error((*loc, "bounds", i), what, allowed="numbers like 100, 10K, 1.5M")
            bounds.append(float(exact))
        else:
            bounds.append(float(bound))
    groups = entry.groups
    if groups is None:
        if not bounds:
            raise document.error(loc, "the set has no groups", advice="list `groups`, or `bounds` of an ordinal set")
        # Names for the groups between bounds: `x < 100`, `100 <= x < 10K`, …, `1M <= x`.
        between = (f"{low} <= x < {high}" for low, high in pairwise(entry.bounds))
        groups = (f"x < {entry.bounds[0]}", *between, f"{entry.bounds[-1]} <= x")
    gold_loc = (*loc, "gold")
    if isinstance(entry.gold, str):
        if entry.gold != "uniform":
            raise document.error(gold_loc, f"unknown gold {entry.gold!r}", allowed="uniform, or counts by group")
        gold = uniform_shares(max(1, len(groups)))
    elif isinstance(entry.gold, tuple):
        gold = tuple(map(float, entry.gold))
    else:
        try:
            gold = normalise_shares(entry.gold, groups)
        except ValueError as fault:
            raise document.error(gold_loc, f"gold: {fault}") from None
    try:
        return AttributeSet(name, entry.scale, groups, gold, tuple(bounds), entry.mapping, entry.of.strip())
    except ValueError as fault:
        raise document.error(loc, f"{name}: {fault}") from None
