"""A model that extracts nuggets, for tests: an HTTP server that answers with what the rules find, or as it is told.

What it quotes it takes from the request alone, as a model must.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import yaml

from scoring.swan.extraction import RuleExtractor
from scoring.words import Passage, word_count
from tests.servers.local_http import Asked, response

__all__ = ["Handler", "answering", "completion", "endpoints_file", "passage_of", "replying", "ruled"]

Handler = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


def completion(text: str, finish: str = "stop") -> bytes:
    value = {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": finish}]}
    return response("200 OK", json.dumps(value))


def passage_of(asked: Asked) -> tuple[Passage, list[Passage]]:
    """What a request asks about, and what it shows of before."""
    shown = json.loads(asked.json["messages"][-1]["content"])

    def side(value: dict[str, str]) -> Passage:
        return Passage(1, value["speaker"], value["text"], 0, word_count(value["text"]))

    return side(shown["passage"]), [side(one) for one in shown["earlier"]]


def ruled(asked: Asked) -> str:
    """A good reply: the nuggets that the rules find, as quotations."""
    passage, earlier = passage_of(asked)
    found = []
    for one in RuleExtractor().candidates(passage, earlier):
        item = {"quote": passage.text[one.start : one.end], "type": one.type}
        found.append({**item, "act": one.act} if one.act else item)
    return json.dumps({"nuggets": found})


def replying(reply: Callable[[Asked], str | bytes]) -> Handler:
    """A handler whose replies are text, or bytes as they stand."""

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        said = reply(asked)
        writer.write(said if isinstance(said, bytes) else completion(said))
        await writer.drain()

    return handler


def answering(*nuggets: Any) -> Callable[[Asked], str]:
    """The same nuggets to whatever is asked."""
    return lambda asked: json.dumps({"nuggets": list(nuggets)})


def endpoints_file(folder: Path, url: str, **options: Any) -> Path:
    """The file that `--extract` takes."""
    entry = {"base_url": url, "model": "m1", "retries": 0, "retry_wait": 0, "timeout": 5, **options}
    path = folder / "endpoints.yaml"
    path.write_text(
        yaml.safe_dump({"format": "harvest-endpoints/1", "endpoints": {"nuggets": entry}}), encoding="utf-8"
    )
    return path
