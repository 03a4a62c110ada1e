"""Starter files for a new audit with each driver: a commented audit file, topics and a protocol."""

from collections.abc import Mapping
from importlib.resources import files

from harvest.drivers.recipe import read_recipe
from harvest.drivers.registry import recipe_names

_FOLDER = files("harvest.audits") / "starter"
# Drivers with a system in a file beside the audit, so that the audit can be played immediately.
_PROGRAMS = ("command", "python")
_LONGEST_LINE = 120


def starter_drivers() -> tuple[str, ...]:
    """Return the names of the drivers that have starter files, sorted."""
    written = (one.name.removesuffix(".yaml") for one in (_FOLDER / "systems").iterdir())
    return tuple(sorted((*written, *recipe_names())))


def starter_system(driver: str) -> str:
    """Return an example of a system of an audit, with comments. `driver` is one of `starter_drivers()`."""
    if driver not in recipe_names():
        return _read_starter(f"systems/{driver}.yaml")
    recipe = read_recipe(driver)
    shown = {name: option for name, option in recipe.options.items() if option.is_essential}
    lines = [
        "  - name: mine",
        _with_comment(f"    driver: {driver}", f"{recipe.file.about} (docs/doors.md)"),
        "    options:",
        *(_with_comment(f"      {name}: {option.sample}", option.about) for name, option in shown.items()),
        _with_comment("    rate: 30/min", "user turns at most"),
        _with_comment("    concurrency: 2", "conversations at a time"),
    ]
    return "\n".join(lines) + "\n"


def _with_comment(line: str, comment: str) -> str:
    whole = f"{line:<34} # {comment}" if len(line) < 34 else f"{line}  # {comment}"
    return whole if len(whole) <= _LONGEST_LINE else line


def driver_summary(driver: str) -> str:
    """Return a phrase for the driver with the page of its documentation. `driver` is one of `starter_drivers()`."""
    return next(line.partition("# ")[2] for line in starter_system(driver).splitlines() if "driver:" in line)


def starter_files(driver: str) -> Mapping[str, str]:
    """Return the text of each starter file by name. `driver` is one of `starter_drivers()`."""
    names = ["topics.yaml", "protocol.yaml", *(["bot.py"] if driver in _PROGRAMS else [])]
    return {
        "audit.yaml": _read_starter("audit.yaml") + starter_system(driver),
        **{name: _read_starter(name) for name in names},
    }


def _read_starter(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
