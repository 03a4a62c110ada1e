"""The figures of a study's JSON document, by their names."""

from collections.abc import Mapping
from typing import Any


def figures(document: Mapping[str, Any], name: str, **wanted: object) -> list[dict[str, Any]]:
    """The rows of `long` that hold the figure `name`, in their order. wanted: cells that they have."""
    return [
        row
        for row in document["long"]
        if row["figure"] == name and all(row[key] == value for key, value in wanted.items())
    ]
