"""A model that judges, for tests: an HTTP server that answers by the words it is shown, or as it is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tests.servers.local_http import Asked

__all__ = ["by_length", "judge_file", "prefers_first", "prefers_longer", "scoring", "shown_to"]


def shown_to(asked: Asked) -> dict[str, Any]:
    """What a request shows."""
    value: dict[str, Any] = json.loads(asked.json["messages"][-1]["content"])
    return value


def scoring(score: Any, reason: str = "so") -> Callable[[Asked], str]:
    """The same score for whatever is asked."""
    return lambda asked: json.dumps({"reason": reason, "score": score})


def by_length(asked: Asked) -> str:
    """1 for more than sixty characters."""
    thing = shown_to(asked)["judge"]
    return json.dumps({"reason": "by its length", "score": 1 if len(thing.get("text", "")) > 60 else 0})


def prefers_first(asked: Asked) -> str:
    return json.dumps({"reason": "it came first", "better": "first"})


def prefers_longer(asked: Asked) -> str:
    shown = shown_to(asked)
    first, second = len(shown["first"]), len(shown["second"])
    return json.dumps(
        {"reason": "more", "better": "first" if first > second else "second" if second > first else "tie"}
    )


def judge_file(folder: Path, url: str, *, endpoint: Any = None, **options: Any) -> Path:
    """The file that `harvest judge model --with` takes."""
    entry = {"base_url": url, "model": "m1", "retries": 0, "retry_wait": 0, "timeout": 5, **(endpoint or {})}
    path = folder / "judge.yaml"
    value = {"format": "harvest-judge/1", "endpoint": entry, **options}
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    return path
