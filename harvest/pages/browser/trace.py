"""Playwright's trace of a conversation, without the data that would let others use its log-in."""

import io
import json
import zipfile
from collections.abc import Collection
from typing import Any

from recordings.secrets.redaction import Redactor

_SECRET_HEADERS = frozenset(
    {"authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key", "x-csrf-token"}
)
_SECRET_KEYS = frozenset({"storageState", "httpCredentials", "clientCertificates", "cookies", "localStorage"})
_REMOVED = "[removed]"


def clean_archive(archive: bytes, secrets: Collection[str] = ()) -> bytes:
    """Return the zip file with cookies, authorization and stored state removed from its records; pictures stay as they
    are.

    secrets: values to remove wherever they occur as text, whether typed, shown, sent or received. Raises ValueError if
    it is not a zip file.
    """
    out = io.BytesIO()
    redactor = Redactor(secrets)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
            for name in source.namelist():
                data = source.read(name)
                if name.endswith((".trace", ".network")):
                    data = b"".join(_clean_record(line) for line in data.splitlines(True))
                target.writestr(name, redactor.data(data))
    except zipfile.BadZipFile as fault:
        raise ValueError(f"no trace: {fault}") from None
    return out.getvalue()


def _clean_record(line: bytes) -> bytes:
    try:
        record = json.loads(line)
    except ValueError:
        # A trace with a gap is better than one with a secret.
        return b"" if line.strip() else line
    return json.dumps(_without_secrets(record), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _without_secrets(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_secrets(one) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("name"), str) and value["name"].lower() in _SECRET_HEADERS and "value" in value:
        return {**value, "value": _REMOVED}
    return {
        key: ([] if isinstance(one, list) else _REMOVED)
        if key in _SECRET_KEYS or key.lower() in _SECRET_HEADERS
        else _without_secrets(one)
        for key, one in value.items()
    }
