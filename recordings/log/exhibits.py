"""The exhibits of one turn, redacted and written to the disk in one step."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recordings.files.errors import StoreError
from recordings.files.evidence import keep_exhibit, stored_address
from recordings.secrets.redaction import Redactor, count_marks

# Total bytes of exhibits below which redaction takes less time than waiting for a thread.
_FEW_BYTES = 2**14


@dataclass(frozen=True, slots=True)
class KeptExhibit:
    """An exhibit on the disk. `address` is for the event that names it, and `marks` is the number of its redactions."""

    name: str
    address: str
    marks: int


@dataclass(frozen=True, slots=True)
class _Clean:
    name: str
    media_type: str
    data: bytes
    marks: int


async def keep_exhibits(run: Path, redactor: Redactor, exhibits: Sequence[tuple[str, str, bytes]]) -> list[KeptExhibit]:
    """Write exhibits, given by name, media type and content. Short exhibits are redacted at once, and no thread is used
    if all exhibits were written before, as most headers were. Raises StoreError."""
    if not exhibits:
        return []
    if sum(len(data) for _, _, data in exhibits) >= _FEW_BYTES:
        return await asyncio.to_thread(lambda: _write_exhibits(run, _redact_exhibits(redactor, exhibits)))
    clean = _redact_exhibits(redactor, exhibits)
    kept = []
    for exhibit in clean:
        address = stored_address(run, exhibit.data, exhibit.media_type)
        if address is None:
            return await asyncio.to_thread(_write_exhibits, run, clean)
        kept.append(KeptExhibit(exhibit.name, address, exhibit.marks))
    return kept


def _redact_exhibits(redactor: Redactor, exhibits: Sequence[tuple[str, str, bytes]]) -> list[_Clean]:
    found = []
    for name, media_type, data in exhibits:
        clean = redactor.data(data, media_type)
        marks = 0 if clean == data else count_marks(clean.decode("utf-8", "replace")) or 1
        found.append(_Clean(name, media_type, clean, marks))
    return found


def _write_exhibits(run: Path, exhibits: Sequence[_Clean]) -> list[KeptExhibit]:
    kept = []
    for exhibit in exhibits:
        try:
            address = keep_exhibit(run, exhibit.data, exhibit.media_type)
        except OSError as fault:
            doing = f"keep the evidence {exhibit.name!r} in"
            raise StoreError(run / "evidence", fault, doing, playing=True) from fault
        kept.append(KeptExhibit(exhibit.name, address, exhibit.marks))
    return kept
