"""Single conversations of a run, which may still be played, and the list of its attempts."""

import shlex
from pathlib import Path
from typing import Any

from harvest.report.transcripts import conversation_body, limit_text
from harvest.studies.pairs.conversation_rows import outcome_words
from recordings.conversations.conversation import TrialKey
from recordings.log.run_folder import Run, event_file_sizes, read

_LONGEST = 200  # characters of a name


class Conversations:
    """The conversations of runs. The run that was read last is kept until it changes."""

    def __init__(self) -> None:
        self._kept: tuple[Path, dict[str, int], Run] | None = None

    def find(self, folder: Path, key: TrialKey, attempt: int, address: str) -> dict[str, Any] | None:
        """Return an attempt at a trial of the run in `folder`, with what the report's script needs to show it, or None
        if there is none. Attempt 0 means the attempt that counts, or else the last one. `address` is the address of
        the run's evidence. Raises HarvestError if the run cannot be read."""
        run = self._read(folder)
        attempts = [one for one in run.attempts if one.started.key == key]
        chosen = [one for one in attempts if one.started.attempt == attempt] if attempt else attempts
        found = next((one for one in chosen if one.valid and not attempt), chosen[-1] if chosen else None)
        if found is None:
            return None
        conversation = found.conversation()
        first = next((one for one in attempts if one.valid), None)
        index = {
            "systems": [limit_text(key.system, _LONGEST)[0]],
            "topics": [limit_text(key.topic, _LONGEST)[0]],
            "ends": [limit_text(outcome_words(conversation), _LONGEST)[0]],
            **{name: [0] for name in ("system", "topic", "end", "chunks")},
            "trial": [key.trial],
            "attempt": [conversation.attempt],
            "counted": [0] if found is first else [],
            "shown": [shlex.join(["harvest", "show", str(folder), "--system", key.system])],
            "files": [],
        }
        return {
            "system": key.system,
            "topic": key.topic,
            "trial": key.trial,
            "attempt": conversation.attempt,
            "attempts": [one.started.attempt for one in attempts],
            "index": index,
            "body": conversation_body(conversation, address, {}),
        }

    def _read(self, folder: Path) -> Run:
        sizes = event_file_sizes(folder)
        if self._kept is None or self._kept[:2] != (folder, sizes):
            self._kept = (folder, sizes, read(folder))
        return self._kept[2]
