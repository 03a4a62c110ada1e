"""Files of sources: a table of sources (`.csv`), or `format: harvest-sources/1` with a table and more about it.

    format: harvest-sources/1
    table: sources.csv
    redirects: own-redirects.csv
    attributes:
      kind: {scale: nominal, groups: [broadcaster, newspaper, authority], gold: uniform}

`attributes` are written as in topic files. Each says which shares the groups of one column should have; a column
`country` may have the mapping `regions`. Files are found from the folder of the file that names them.
"""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from topics.csv_rows import decode_table
from topics.document import StrictModel, read_document
from topics.errors import InputError, suggestion
from topics.redirects import Redirect, parse_redirects
from topics.regular_file import read_bytes
from topics.source_table import SourceTable, read_source_table
from topics.topic_file import AttributeEntry, Name, read_attribute

FORMAT = "harvest-sources/1"
_LARGEST = 2**20  # bytes of a file of redirects


class _File(StrictModel):
    format: Literal["harvest-sources/1"]
    table: str
    redirects: str | None = None
    attributes: dict[Name, AttributeEntry] = Field(default_factory=dict)


def load_sources(path: str | PathLike[str]) -> SourceTable:
    """Read a table of sources, or a file of sources if its name ends in .yaml or .yml. Raises InputError."""
    if Path(path).suffix not in (".yaml", ".yml"):
        return read_source_table(path)
    document = read_document(path)
    if isinstance(document.value, dict) and document.value.get("format", FORMAT) != FORMAT:
        raise document.other_format_error(FORMAT) or document.error(
            ("format",), "this is not a file of sources of a known version", allowed=f"format: {FORMAT}"
        )
    file, folder = document.validate_as(_File), Path(path).parent
    with document.add_place(("table",)):
        table = read_source_table(folder / file.table)
    rules: tuple[Redirect, ...] = ()
    if file.redirects is not None:
        with document.add_place(("redirects",)):
            data, name = read_bytes(folder / file.redirects, "a CSV table", largest=_LARGEST), file.redirects
            rules = tuple(parse_redirects(decode_table(data, str(folder / name), "a CSV table"), str(folder / name)))
    attributes = {}
    for name, entry in file.attributes.items():
        loc = ("attributes", name)
        if name not in table.columns:
            what = f"the table has no column {name!r}{suggestion(name, table.columns)}"
            raise document.error(loc, what, allowed=", ".join(table.columns), key=True)
        attributes[name] = read_attribute(document, name, entry)
        for row in table.entries.values():
            try:
                if name in row.groups:
                    attributes[name].membership(row.groups[name])
            except ValueError as fault:
                raise InputError(f"{name} of {row.domain}: {fault}", place=row.place) from None
    return replace(table, attributes=MappingProxyType(attributes), rules=rules)
