"""Starter files for a new audit with each driver: a commented audit file, topics and a protocol."""

from collections.abc import Mapping
from importlib.resources import files

_FOLDER = files("harvest.audits") / "starter"
# Drivers with a system in a file beside the audit, so that the audit can be played immediately.
_PROGRAMS = ("command", "python")


def starter_drivers() -> tuple[str, ...]:
    """Return the names of the drivers that have starter files."""
    return tuple(sorted(one.name.removesuffix(".yaml") for one in (_FOLDER / "systems").iterdir()))


def starter_files(driver: str) -> Mapping[str, str]:
    """Return the text of each starter file by name. `driver` is one of `starter_drivers()`."""
    names = ["topics.yaml", "protocol.yaml", *(["bot.py"] if driver in _PROGRAMS else [])]
    system = _read_starter(f"systems/{driver}.yaml")
    return {"audit.yaml": _read_starter("audit.yaml") + system, **{name: _read_starter(name) for name in names}}


def _read_starter(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
