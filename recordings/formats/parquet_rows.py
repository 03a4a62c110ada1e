"""The rows of Parquet files, in which data sets are published. Needs the extra `parquet`."""

import datetime
import io
from collections.abc import Iterator
from typing import Any

from recordings.files.json_text import Json
from recordings.formats.table_export import load_pyarrow
from topics.errors import InputError, Place
from topics.json_value import JsonValue

# The first bytes of such a file.
PARQUET_MARK = b"PAR1"
_AT_ONCE = 1000


def parquet_rows(data: bytes, path: str) -> Iterator[JsonValue]:
    """Yield each row as an object, and its number as the line. Times become text in ISO 8601. Raises InputError if the
    file is damaged or pyarrow is not installed."""
    arrow, parquet = load_pyarrow(path)
    number = 0
    try:
        for batch in parquet.ParquetFile(io.BytesIO(data)).iter_batches(_AT_ONCE):
            for row in batch.to_pylist():
                number += 1
                yield JsonValue.at_line(_plain(row), path, number)
    except (arrow.ArrowException, OSError) as fault:
        raise InputError(f"this Parquet file cannot be read: {fault}", place=Place(path)) from None


def _plain(value: Any) -> Json:
    """Return the value with what JSON has no types for as text."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, datetime.datetime):
        return str(value).replace(" ", "T", 1)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)
