"""Fingerprints of systems beyond their audit: the defaults of their drivers and the content of their files.

They are stored in the header of a run, so that a run is not resumed with another program, function, certificate or
site under the old name. Older headers have none, and their runs are resumed without this check.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harvest.drivers.registry import driver_files, options_model
from topics.regular_file import read_regular


def fingerprints(systems: Iterable[tuple[str, str, dict[str, Any]]], folder: Path) -> dict[str, dict[str, Any]]:
    """Return the fingerprints of systems, given as (name, driver, options as written).

    `system_defaults`: the options that the audit leaves to the driver, with their values, by system. `system_files`: a
    hash of each file that the options name, by system.
    """
    defaults: dict[str, Any] = {}
    files: dict[str, Any] = {}
    for name, driver, written in systems:
        options = options_model(driver).model_validate(written)
        values = options.model_dump(mode="json")
        defaults[name] = {key: value for key, value in values.items() if key not in written}
        found = {called: _file_digest(path) for called, path in driver_files(driver, options, folder)}
        if found:
            files[name] = found
    return {"system_defaults": defaults, "system_files": files}


def _file_digest(path: Path) -> str:
    """Return the hash of a file's content in hexadecimal, or "" if it cannot be read."""
    try:
        return hashlib.blake2b(read_regular(path), digest_size=16).hexdigest()
    except OSError:
        return ""
