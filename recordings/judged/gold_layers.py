"""Gold that is kept with a run: judgments of entities, written and read as layers of the kind `gold`."""

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from recordings.files.errors import RunError
from recordings.files.json_text import Json
from recordings.files.times import Now, stamp, utc_now
from recordings.judged.judgments import Judgment, Layer, read_layers, write_layer
from topics.errors import Place
from topics.gold import GoldEntry, GoldTable
from topics.topic import TopicSet

# The author of judgments from a file of gold, such as that of an audit.
TABLE = "gold table"


def gold_judgments(
    entries: Iterable[GoldEntry], notes: Mapping[tuple[str, str], str] | None = None
) -> tuple[Judgment, ...]:
    """Convert gold entries to judgments by the criterion `gold`. `notes` are remarks by (topic, entity)."""
    found = []
    for entry in entries:
        value: dict[str, Json] = {"grade": entry.grade, "title": entry.title}
        value["groups"] = {name: list(vector) for name, vector in entry.groups.items()}
        if entry.raw:
            value["raw"] = dict(entry.raw)
        note = (notes or {}).get((entry.topic, entry.entity), "")
        found.append(Judgment({"topic": entry.topic, "entity": entry.entity}, "gold", value, note))
    return tuple(found)


def gold_entries(layers: Iterable[Layer], topics: TopicSet | None = None) -> tuple[GoldEntry, ...]:
    """Return the gold entries in the layers of the kind `gold`. A later layer replaces an earlier layer for the same
    entity. The attribute sets of `topics` give the lengths of memberships. Raises RunError, with file and line."""
    found: dict[tuple[str, str], GoldEntry] = {}
    for layer in layers:
        if layer.kind != "gold":
            continue
        for number, judgment in enumerate(layer.judgments, 2):
            place = Place(layer.path or f"the gold of {layer.author}", number)
            match judgment:
                case Judgment(
                    about={"topic": str(topic), "entity": str(entity)},
                    criterion="gold",
                    value={"grade": grade, **rest},
                ):
                    if isinstance(grade, bool) or grade not in range(10):
                        raise RunError("the grade of a gold judgment must be a whole number from 0 to 9", place=place)
                    found[topic, entity] = GoldEntry(
                        topic=topic,
                        entity=entity,
                        grade=grade,
                        title=str(rest.get("title") or ""),
                        groups={
                            name: _check_shares(name, vector, topics, place)
                            for name, vector in _object(rest.get("groups"), "groups", place).items()
                        },
                        raw={name: str(text) for name, text in _object(rest.get("raw"), "raw", place).items()},
                        place=place,
                    )
                case Judgment(criterion="gold"):
                    raise RunError("a gold judgment must have a topic, an entity and a grade", place=place)
    return tuple(found.values())


def _object(value: Any, key: str, place: Place) -> dict[str, Any]:
    if not isinstance(value, (dict, type(None))):
        raise RunError(f"the {key!r} of a gold judgment is not an object", place=place)
    return value or {}


def _check_shares(name: str, vector: Any, topics: TopicSet | None, place: Place) -> tuple[float, ...]:
    if not isinstance(vector, list) or not all(
        isinstance(share, (int, float)) and not isinstance(share, bool) and 0 <= share <= 1 for share in vector
    ):
        raise RunError(f"{name} is not a list of shares from 0 to 1", place=place)
    if abs(math.fsum(vector) - 1) > 1e-5:
        raise RunError(f"the shares of {name} sum to {math.fsum(vector):.6g}, not to 1", place=place)
    known = topics.attributes.get(name) if topics else None
    if known and len(known.groups) != len(vector):
        raise RunError(f"{name} has {len(known.groups)} groups, but {len(vector)} shares are given here", place=place)
    return tuple(map(float, vector))


def keep_gold(
    run: str | PathLike[str],
    table: GoldTable,
    *,
    source: str,
    author: str = TABLE,
    version: str = "",
    notes: Mapping[tuple[str, str], str] | None = None,
    clock: Now = utc_now,
) -> None:
    """Write `table` as a layer of the run, unless it equals the newest layer of the same author and source."""
    judgments = gold_judgments(table, notes)
    same = [layer for layer in read_layers(run) if (layer.kind, layer.author, layer.source) == ("gold", author, source)]
    if judgments and not (same and same[-1].judgments == judgments and same[-1].version == version):
        write_layer(run, Layer("gold", author, version, source, stamp(clock()), judgments))


def read_gold_layers(runs: Iterable[str | PathLike[str]], topics: TopicSet | None = None) -> GoldTable:
    """Read the gold in the layers of several runs. Of two judgments of one entity, the newer judgment counts. Only
    entries for `topics` are read; None reads all entries."""
    return gold_table((layer for run in runs for layer in read_layers(run)), topics)


def gold_table(layers: Iterable[Layer], topics: TopicSet | None = None) -> GoldTable:
    """Return the gold in these layers as a table, as `read_gold_layers` does."""
    ordered = sorted(layers, key=lambda layer: layer.made_at)
    known = None if topics is None else {topic.id for topic in topics.topics}
    return GoldTable(entry for entry in gold_entries(ordered, topics) if known is None or entry.topic in known)
