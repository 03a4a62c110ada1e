"""What is known about sources, kept with a run: rows, targets and rules, written and read as layers of the kind `gold`.

A figure can then be traced to the table that it was made with, on any machine, after the table has changed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from os import PathLike
from types import MappingProxyType
from typing import Any, get_args

from recordings.files.errors import RunError
from recordings.files.json_text import Json
from recordings.files.times import Now, stamp, utc_now
from recordings.judged.judgments import Judgment, Layer, keep_layer
from topics.attributes import AttributeSet
from topics.errors import Place
from topics.redirects import COLUMNS, Redirect, Way
from topics.source_table import SourceEntry, SourceTable

AUTHOR = "table of sources"

# What was looked up about sources: the author of a layer, and its criteria.
LOOK_UP = "look-up"
PAGE, QUOTATION = "page", "quotation"

_SOURCE, _ATTRIBUTE, _REDIRECT = "source", "source-groups", "source-redirect"


def keep_sources(run: str | PathLike[str], table: SourceTable, *, clock: Now = utc_now) -> None:
    """Write `table` as a layer of the run, unless it equals the newest layer of the same source."""
    keep_layer(run, Layer("gold", AUTHOR, "", table.name, stamp(clock()), tuple(_judgments(table))))


def _judgments(table: SourceTable) -> Iterable[Judgment]:
    for entry in table.entries.values():
        groups: dict[str, Json] = {column: entry.groups.get(column, "") for column in table.columns}
        yield Judgment({"domain": entry.domain}, _SOURCE, groups)
    for name, one in table.attributes.items():
        value: dict[str, Json] = {
            "scale": one.scale,
            "groups": list(one.groups),
            "gold": list(one.gold),
            "bounds": list(one.bounds),
            "mapping": one.mapping,
            "of": one.of,
        }
        yield Judgment({"column": name}, _ATTRIBUTE, value)
    for number, rule in enumerate(table.rules, 1):
        yield Judgment({"redirect": number}, _REDIRECT, asdict(rule))


def source_table(layers: Iterable[Layer]) -> SourceTable:
    """Return the newest table in the layers, which is empty if they have none. Raises RunError, with file and line."""
    own = [layer for layer in layers if (layer.kind, layer.author) == ("gold", AUTHOR)]
    if not own:
        return SourceTable()
    layer = max(own, key=lambda one: one.made_at)
    entries: dict[str, SourceEntry] = {}
    columns: dict[str, None] = {}
    attributes: dict[str, AttributeSet] = {}
    rules: list[Redirect] = []
    for number, judgment in enumerate(layer.judgments, 2):
        place = Place(layer.path or f"the table of sources of {layer.source}", number)
        match judgment:
            case Judgment(about={"domain": str(domain)}, criterion="source", value=dict(groups)):
                columns.update(dict.fromkeys(groups))
                entries[domain] = SourceEntry(domain, {name: str(one) for name, one in groups.items() if one}, place)
            case Judgment(about={"column": str(name)}, criterion="source-groups", value=dict(value)):
                attributes[name] = _attribute(name, value, place)
            case Judgment(about={"redirect": int()}, criterion="source-redirect", value=dict(value)):
                rules.append(_rule(value, place))
            case _:
                raise RunError("this is not a row, target or rule of a table of sources", place=place)
    return SourceTable(
        MappingProxyType(entries), tuple(columns), MappingProxyType(attributes), tuple(rules), layer.source
    )


def _attribute(name: str, value: Mapping[str, Any], place: Place) -> AttributeSet:
    given: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in value.items()}
    try:
        return AttributeSet(name, **given)
    except (TypeError, ValueError) as fault:
        raise RunError(f"{name}: {fault}", place=place) from None


def _rule(value: Mapping[str, Any], place: Place) -> Redirect:
    texts = all(isinstance(one, str) for one in value.values())
    if set(value) != set(COLUMNS) or not texts or value["way"] not in get_args(Way):
        raise RunError("this is not a rule for redirects", place=place)
    return Redirect(**value)
