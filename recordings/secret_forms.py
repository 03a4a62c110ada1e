"""The forms in which a secret comes back: as it is, escaped for JSON, HTML or URLs, in hex, in base64 at any offset.

Escapes of single characters of ASCII, in any mix, are undone before a text is looked at (`recordings.escapes`); here
are the forms that are made of a secret as a whole.
"""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote, quote_plus, unquote, urlsplit

from recordings.escapes import undo_letters

__all__ = ["forms_of", "passwords_in"]


def forms_of(secret: str) -> Iterator[str]:
    """The texts in which `secret` may stand, itself among them; some come more than once."""
    data = secret.encode("utf-8", "surrogatepass")
    plain = {secret}
    for _ in range(3):  # JSON within JSON within JSON, as where an error quotes a reply that quotes a request
        plain |= {json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in plain for ascii_only in (True, False)}
    # Go and .NET write < > & as \\u003c: once such escapes are undone, backslashes are still doubled.
    plain |= {undo_letters(form) for form in plain}
    plain |= {unicodedata.normalize(kind, secret) for kind in ("NFC", "NFD")}
    plain |= {html.escape(form, quote=quoted) for form in plain for quoted in (True, False)}
    plain |= {form.replace("/", "\\/") for form in plain}
    plain |= {form.replace("&#x27;", "&#39;") for form in plain}
    # What stays unescaped differs: nothing, a path, JavaScript's encodeURIComponent and encodeURI, a form.
    for safe in ("", "/", "!'()*", ";,/?:@&=+$!'()*#"):
        plain.add(quote(data, safe=safe))
    plain.add(quote_plus(data))
    if not secret.isascii():  # of JSON and URLs nothing else is undone
        plain |= {"".join(f"\\u{unit:{form}}" for unit in _units(secret)) for form in ("04x", "04X")}
        plain |= {"".join(f"%{byte:02X}" for byte in data)}
    for form in plain:
        yield form
        if "%" in form:
            yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), form)
            yield quote(form, safe="")
    yield data.hex()
    yield data.hex().upper()
    for form in _base64(data):
        yield form
        if "/" in form:
            yield form.replace("/", "\\/")
        if set(form) & set("+/="):
            yield quote(form, safe="")


def _units(text: str) -> Iterator[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))


def _base64(data: bytes) -> Iterator[str]:
    """Base64 of `data` on its own, and what is certain of it wherever it stands inside something longer."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode()
        yield encode(data).decode().rstrip("=")
        for offset in range(3):
            coded = encode(b"\0" * offset + data).decode().rstrip("=")
            first = (0, 2, 3)[offset]  # characters that also hold bits of what stands before
            last = len(coded) - (1 if (len(data) + offset) % 3 else 0)  # … or after
            yield coded[first:last]


def passwords_in(secret: str) -> Iterator[str]:
    """The password of a secret that is a URL (a proxy's, say), which is sent without the rest."""
    try:
        password = urlsplit(secret).password
    except ValueError:
        return
    if password:
        yield from dict.fromkeys((password, unquote(password)))
