"""What a user remembers, as plain JSON values: the topic it was given, and what was said and answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from types import MappingProxyType

from protocols.answer import Answer, Exchange
from topics.links import Link, UrlKind
from topics.topic import Topic, TopicType

__all__ = ["decode_exchanges", "decode_topic", "encode_exchanges", "encode_topic"]


def encode_topic(topic: Topic) -> dict[str, object]:
    """The topic as a user knows it: how entities are grouped (`type.attributes`) is not part of that."""
    return {
        "id": topic.id,
        "type": {
            "name": topic.type.name,
            "asks_for": topic.type.asks_for,
            "url": json.loads(json.dumps(asdict(topic.type.url))) if topic.type.url else None,  # lists, no tuples
        },
        "request": topic.request,
        "subject": topic.subject,
        "turns": list(topic.turns),
        "fields": dict(topic.fields),
        "format": topic.format,
    }


def decode_topic(value: object) -> Topic:
    """The topic that `encode_topic` wrote. Raises ValueError where the value is none."""
    match value:
        case {
            "id": str(name),
            "type": {"name": str(kind), "asks_for": str(asks_for), "url": url},
            "request": str(request),
            "subject": str(subject),
            "turns": [*turns],
            "fields": Mapping() as words,
            "format": str(form),
        }:
            return Topic(
                id=name,
                type=TopicType(kind, asks_for, _url_kind(url) if url else None),
                request=request,
                subject=subject,
                turns=tuple(str(turn) for turn in turns),
                fields=MappingProxyType({str(key): str(word) for key, word in words.items()}),
                format=form,
            )
    raise ValueError("not a topic that a user remembered")


def _url_kind(value: object) -> UrlKind:
    if not isinstance(value, Mapping) or set(value) != {field.name for field in fields(UrlKind)}:
        raise ValueError("not a kind of URL that a user remembered")
    words = {name: part for name, part in value.items() if name not in ("hosts", "also")}
    return UrlKind(hosts=tuple(value["hosts"]), also=tuple(_url_kind(shape) for shape in value["also"]), **words)


def encode_exchanges(exchanges: Iterable[Exchange]) -> list[object]:
    """Each exchange as {said, answer: {text, links: [[text, href], …], links_left_out}}."""
    return [
        {
            "said": exchange.said,
            "answer": {
                "text": exchange.answer.text,
                "links": [[link.text, link.href] for link in exchange.answer.links],
                "links_left_out": exchange.answer.links_left_out,
            },
        }
        for exchange in exchanges
    ]


def decode_exchanges(value: object) -> tuple[Exchange, ...]:
    """The exchanges that `encode_exchanges` wrote. Raises ValueError where the value is none."""
    if not isinstance(value, (list, tuple)):
        raise ValueError("not the exchanges that a user remembered")
    found = []
    for part in value:
        match part:
            case {"said": str(said), "answer": {"text": str(text), "links": [*links], "links_left_out": int(left_out)}}:
                anchors = tuple(Link(str(anchor), str(href)) for anchor, href in links)
                found.append(Exchange(said, Answer(text, anchors, left_out)))
            case _:
                raise ValueError("not an exchange that a user remembered")
    return tuple(found)
