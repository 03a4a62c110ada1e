"""Loading of topic sets and gold tables: shipped files by name, and your own files by path."""

from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from os import PathLike, fspath

from topics.document import parse_document, read_document
from topics.errors import InputError, suggestion
from topics.gold import GoldTable, parse_gold, read_gold
from topics.question_table import ENDINGS, read_questions
from topics.text_file import decode
from topics.topic import TopicSet
from topics.topic_file import read_topics

_GOLD_END = ".gold.csv"
_TOPICS_END = ".yaml"


def shipped_topics() -> tuple[str, ...]:
    """Return the names of the topic sets that come with Harvest."""
    return _shipped_names(_TOPICS_END)


def shipped_gold() -> tuple[str, ...]:
    """Return the names of the gold tables that come with Harvest."""
    return _shipped_names(_GOLD_END)


def load_topics(name_or_path: str | PathLike[str]) -> TopicSet:
    """Load a shipped topic set by name (see `shipped_topics`), or your own set by path: YAML, or a table of questions
    (`topics.question_table`). Raises InputError for an unknown name and for a missing or invalid file."""
    file = _find_shipped(name_or_path, _TOPICS_END, "topic set")
    if file is None:
        if fspath(name_or_path).casefold().endswith(ENDINGS):
            return read_questions(name_or_path)
        return read_topics(read_document(name_or_path))
    return _read_shipped_topics(file.name)


def load_gold(name_or_path: str | PathLike[str], topics: TopicSet) -> GoldTable:
    """Load a shipped gold table by name (see `shipped_gold`), or your own table by path, for the topic set `topics`.
    Rows for topics that the set leaves out are counted in `skipped`. Raises InputError as `load_topics` does."""
    file = _find_shipped(name_or_path, _GOLD_END, "gold table")
    if file is None:
        return read_gold(name_or_path, topics)
    place = f"topics/{file.name}"
    return parse_gold(decode(file.read_bytes(), place, "a CSV table"), topics, place)


@cache
def _read_shipped_topics(file: str) -> TopicSet:
    place, data = f"topics/{file}", (resources.files("topics") / file).read_bytes()
    return read_topics(parse_document(decode(data, place, "YAML text"), place))


def _shipped_names(end: str) -> tuple[str, ...]:
    names = (entry.name for entry in resources.files("topics").iterdir())
    return tuple(sorted(name.removesuffix(end) for name in names if name.endswith(end)))


def _find_shipped(name_or_path: str | PathLike[str], end: str, what: str) -> Traversable | None:
    name = fspath(name_or_path)
    if name in _shipped_names(end):
        return resources.files("topics") / f"{name}{end}"
    if "/" in name or "\\" in name or "." in name or not isinstance(name_or_path, str):
        return None
    raise InputError(
        f"no {what} called {name!r} comes with Harvest{suggestion(name, _shipped_names(end))}",
        allowed=", ".join(_shipped_names(end)),
        advice=f"for a file of your own, write its path with its ending: {name}.{end.rpartition('.')[2]}",
    )
