"""What `harvest score` printed last about a large run, in `columns/printed.json` of its folder.

Printing figures takes much longer to begin with than to do: it needs all measures and the topics of the run. So the
same command, on a run that has not changed since and on the same terminal, prints the same text again.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Self

from rich.console import Console

from harvest.studies.scores.basis import Basis, open_hashed, write_hashed
from harvest.studies.scores.score_request import ScoreRequest
from recordings.files.json_text import Json
from topics.errors import HarvestError

_FILE = "printed.json"


@dataclass(frozen=True, slots=True)
class KeptPrint:
    """The place of a printed text. `form` is everything that it depends on beside the figures."""

    run: Path
    basis: Basis
    form: Mapping[str, Json]

    @classmethod
    def of(cls, run: Path, request: ScoreRequest, console: Console, options: Mapping[str, Json]) -> Self | None:
        """Return the place of what this console prints of a run, or None if there is none. `options` are those of the
        command that change the text or its exit code."""
        if console.legacy_windows or console.is_jupyter or console.encoding != "utf-8":
            return None
        form: dict[str, Json] = {
            **options,
            "run": str(run),  # which damage names
            "rich": metadata.version("rich"),
            "width": console.width,
            "terminal": console.is_terminal,
            "colors": console.color_system,
            "plain": console.no_color,
        }
        try:
            return cls(run, Basis.of(run, request), form)
        except (OSError, HarvestError):  # reported when the run is read
            return None

    def read(self) -> tuple[str, int] | None:
        """Return the text and the exit code, or None if they are missing or out of date."""
        with suppress(OSError, HarvestError, ValueError, TypeError, LookupError, AttributeError):
            with open_hashed(self.run, _FILE) as file:
                head = json.load(file)
            told = head["told"]
            if told["form"] == self.form and self.basis.supports(self.run, self.basis.table, head):
                return str(told["text"]), int(told["code"])
        return None

    def write(self, text: str, code: int) -> None:
        """Keep a text and its exit code. Nothing is written for a run that changed since this place was found, and if
        the folder is not writable."""
        with suppress(OSError):
            told: dict[str, Json] = {"form": dict(self.form), "text": text, "code": code}
            if (head := self.basis.head(self.run, self.basis.table, told)) is not None:
                write_hashed(self.run, _FILE, memoryview(json.dumps(head).encode()))
