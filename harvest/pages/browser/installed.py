"""Finding a browser: the one that is asked for, Playwright's own, or the system's."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from topics.errors import InputError

VARIABLE = "HARVEST_BROWSER"
NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "google-chrome-beta",
    "chrome",
    "microsoft-edge-stable",
    "microsoft-edge",
    "brave-browser",
)
APPLICATIONS = (
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "Brave Browser.app/Contents/MacOS/Brave Browser",
)
ADVICE = (
    "run `playwright install chromium` (`python -m playwright install chromium`), or install Chromium or Chrome "
    f"(Debian: `apt-get install chromium`), or set {VARIABLE} to the program"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A browser. how: a sentence's end for a person: how it was found."""

    path: Path
    how: str


def find_browser(
    environment: Mapping[str, str],
    own: Callable[[], Path | None] = lambda: None,
    folders: Sequence[Path] | None = None,
) -> Found:
    """The browser to use; raises InputError, saying how to get one, where there is none.

    own: where Playwright keeps its own, asked only where HARVEST_BROWSER is not set. folders: where macOS keeps
    applications; by default the system's and the user's.
    """
    wished = environment.get(VARIABLE, "")
    if wished:
        named = _program(Path(wished).expanduser()) or _on_path(wished, environment)
        if named is None:
            raise InputError(
                f"{VARIABLE} is {wished!r}, and no program is there",
                allowed="the path of a Chromium, Chrome or Edge, or its name on the PATH",
                advice=ADVICE,
            )
        return Found(named, f"named by {VARIABLE}")
    kept = own()
    if kept is not None and _program(kept) is not None:
        return Found(kept, "Playwright's own")
    for name in NAMES:
        program = _on_path(name, environment)
        if program is not None:
            return Found(program, f"{name} on the PATH")
    for folder in _applications() if folders is None else folders:
        for application in APPLICATIONS:
            program = _program(folder / application)
            if program is not None:
                return Found(program, f"in {folder}")
    raise InputError("no browser was found for the browser driver", advice=ADVICE)


def _applications() -> Sequence[Path]:
    return (Path("/Applications"), Path.home() / "Applications") if sys.platform == "darwin" else ()


def _program(path: Path) -> Path | None:
    return path.absolute() if path.is_file() and os.access(path, os.X_OK) else None


def _on_path(name: str, environment: Mapping[str, str]) -> Path | None:
    if os.sep in name:
        return None
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    return Path(found).absolute() if found else None
