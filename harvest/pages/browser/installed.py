"""The search for an installed browser: the requested one, Playwright's own, or the system's."""

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
class FoundBrowser:
    """A browser that was found. `how` completes a sentence that says how the browser was found."""

    path: Path
    how: str


def find_browser(
    environment: Mapping[str, str],
    own: Callable[[], Path | None] = lambda: None,
    folders: Sequence[Path] | None = None,
) -> FoundBrowser:
    """Return the browser to use. Raises InputError with advice on installing a browser if none is found. `own` returns
    the path of Playwright's own browser and is called only if HARVEST_BROWSER is not set. `folders` are the
    application folders of macOS, by default those of the system and of the user."""
    wished = environment.get(VARIABLE, "")
    if wished:
        named = _program(Path(wished).expanduser()) or _on_path(wished, environment)
        if named is None:
            raise InputError(
                f"{VARIABLE} is {wished!r}, but no such program exists",
                allowed="the path of a Chromium, Chrome or Edge, or its name on the PATH",
                advice=ADVICE,
            )
        return FoundBrowser(named, f"named by {VARIABLE}")
    kept = own()
    if kept is not None and _program(kept) is not None:
        return FoundBrowser(kept, "Playwright's own")
    for name in NAMES:
        program = _on_path(name, environment)
        if program is not None:
            return FoundBrowser(program, f"{name} on the PATH")
    if folders is None:
        macos = sys.platform == "darwin"
        folders = (Path("/Applications"), Path.home() / "Applications") if macos else ()
    for folder in folders:
        for application in APPLICATIONS:
            program = _program(folder / application)
            if program is not None:
                return FoundBrowser(program, f"in {folder}")
    raise InputError("no browser was found for the browser driver", advice=ADVICE)


def _program(path: Path) -> Path | None:
    return path.absolute() if path.is_file() and os.access(path, os.X_OK) else None


def _on_path(name: str, environment: Mapping[str, str]) -> Path | None:
    if os.sep in name:
        return None
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    return Path(found).absolute() if found else None
