"""Array files in `columns/` of a run's folder, which are used only as long as the recording is unchanged."""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from harvest.studies.scores.basis import Basis, open_hashed, write_hashed
from recordings.files.json_text import Json
from topics.errors import HarvestError

_Read = TypeVar("_Read")


def write_columns(
    run: Path, name: str, exact: str, basis: Basis, told: Mapping[str, Json], arrays: Mapping[str, Any]
) -> None:
    """Write arrays, and their description, to the file `name`. `exact` is the part of the basis that they rest on.
    Nothing is written for a run that changed meanwhile. Raises OSError."""
    if (head := basis.head(run, exact, told)) is not None:
        data = io.BytesIO()
        np.savez(data, **arrays, head=np.frombuffer(json.dumps(head, default=int).encode(), dtype=np.uint8))
        write_hashed(run, name, data.getbuffer())


def read_columns(
    run: Path, name: str, exact: str, basis: Basis, make: Callable[[Mapping[str, Any], Mapping[str, Any]], _Read]
) -> _Read | None:
    """Return the result of `make` for the description and the arrays, which are loaded on demand; or None if the file
    is missing or out of date. `make` may raise ValueError, TypeError, LookupError or AttributeError."""
    try:
        with open_hashed(run, name) as file, np.load(file, allow_pickle=False) as arrays:
            head = json.loads(arrays["head"].tobytes())
            return make(head["told"], arrays) if basis.supports(run, exact, head) else None
    except (OSError, HarvestError, ValueError, TypeError, LookupError, AttributeError, zipfile.BadZipFile):
        return None
