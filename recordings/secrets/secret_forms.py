"""The forms in which a secret is returned: unchanged, escaped for JSON, HTML or URLs, in hex, or in base64.

In these forms the whole secret is encoded in one way, in base64 at any offset. Escapes of single ASCII characters, in
any mix, are decoded before a text is searched (`recordings.secrets.escapes`).
"""

import base64
import html
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from urllib.parse import quote, quote_plus, unquote, urlsplit

from recordings.secrets.escapes import SearchedText, Span, undo_letters


def forms_of(secret: str) -> Iterator[str]:
    """Yield the forms of `secret`, including the secret itself. Some forms repeat."""
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
    # Unescaped characters differ: none, a path, JavaScript's encodeURIComponent and encodeURI, a form.
    for safe in ("", "/", "!'()*", ";,/?:@&=+$!'()*#"):
        plain.add(quote(data, safe=safe))
    plain.add(quote_plus(data))
    if not secret.isascii():  # of JSON and URLs nothing else is undone
        wide = secret.encode("utf-16-be", "surrogatepass")
        units = [int.from_bytes(wide[i : i + 2], "big") for i in range(0, len(wide), 2)]
        plain |= {"".join(f"\\u{unit:{form}}" for unit in units) for form in ("04x", "04X")}
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


def _base64(data: bytes) -> Iterator[str]:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode()
        yield encode(data).decode().rstrip("=")
        for offset in range(3):
            coded = encode(b"\0" * offset + data).decode().rstrip("=")
            first = (0, 2, 3)[offset]  # characters that also hold bits of what stands before
            last = len(coded) - (1 if (len(data) + offset) % 3 else 0)  # … or after
            yield coded[first:last]


_SCHEMES = "bearer|basic|token|bot|api-?key|key|sso-key|ssws|geniekey|negotiate|digest"
_HEADER = re.compile(rf"(?i)(?:[a-z][a-z0-9-]{{0,63}}:\s*)?(?:{_SCHEMES})\s+(\S+)|[a-z][a-z0-9-]{{0,63}}:\s+(\S.*)")
_PAIR = re.compile(r"\s*([A-Za-z_$][\w.$ -]{0,63})=(.+)", re.DOTALL)
_SECRET_NAME = re.compile(r"(?i)pass|pwd|secret|token|key|sess|sid|auth|sig|cred|jwt")
# Fewest characters of a part: with the name of a secret, and with any name.
_LONG_ENOUGH, _SURE = 8, 16


def parts_of(secret: str) -> Iterator[str]:
    """Yield the parts of a secret that are secrets themselves and may be returned alone: the password in a URL (for
    example of a proxy), the text after `Bearer` or a header's name, the values in a cookie, connection string, query or
    JSON object, and decoded base64."""
    password: str | None = None
    query = ""
    with suppress(ValueError):
        address = urlsplit(secret)
        password, query = address.password, address.query if address.netloc else ""
    if password:
        yield from dict.fromkeys((password, unquote(password)))
    if header := _HEADER.fullmatch(secret):
        yield from (part for part in header.groups() if part and len(part) >= _LONG_ENOUGH)
    yield from _named_values(query or secret)
    if decoded := _decode_base64(secret):
        yield decoded
        name, _, after = decoded.partition(":")  # the password of a user
        if re.fullmatch(r"[^\s{\"]+", name) and len(after) >= _LONG_ENOUGH and not after.startswith("//"):
            yield after


def lines_of(secret: str) -> list[str]:
    """Return the lines of a PEM key that contain the key itself."""
    if "-----BEGIN " not in secret:
        return []
    return [line for line in re.split(r"(?:\\[nr]|\s)+", secret) if re.fullmatch(r"[A-Za-z0-9+/=]{16,}", line)]


def _named_values(secret: str) -> Iterator[str]:
    pairs: Iterable[tuple[str, str]] = ()
    any_name = True
    if secret.startswith("{"):
        any_name = False  # what is long there is often an address, or a name
        with suppress(ValueError, RecursionError):
            pairs = _named_texts(json.loads(secret))
    else:
        found = [_PAIR.fullmatch(part) for part in re.split(r"[;&\n]", secret) if part.strip()]
        pairs = [(one[1], one[2].strip().strip("\"'")) for one in found if one] if all(found) else ()
    for name, value in pairs:
        sure = any_name and len(value) >= _SURE and re.search(r"\d", value) and re.search("[A-Za-z]", value)
        if sure or ("://" not in value and len(value) >= _LONG_ENOUGH and _SECRET_NAME.search(name)):
            yield from dict.fromkeys((value, unquote(value)))


def _named_texts(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inside in value.items():
            if isinstance(inside, str):
                yield name, inside
            else:
                yield from _named_texts(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _named_texts(inside)


def _decode_base64(secret: str) -> str:
    code = secret.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(code + "=" * (-len(code) % 4), validate=True).decode()
    except ValueError:
        return ""
    return text if len(text) >= _LONG_ENOUGH and all(one.isprintable() or one in "\r\n\t" for one in text) else ""


# Separates texts that are searched together: no secret continues across it.
APART = "\x02\n\"'<>[]\n\x02"

# Characters that must remain of a secret: fewer are often the common prefix of a kind of keys (`sk-proj-`).
_LEAST_LENGTH = 12

_CUT_MARKS = ("…", "...", "\\u2026", APART)


class CutSecrets:
    """The forms of known secrets, indexed by their beginnings to find secrets that were cut off."""

    def __init__(self) -> None:
        self._forms: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, forms: Iterable[str]) -> None:
        for form in forms:
            if len(form) > _LEAST_LENGTH:
                self._forms[form[:_LEAST_LENGTH]].add(form)

    @property
    def beginnings(self) -> Iterable[str]:
        """The beginnings of all forms. Every text with a cut secret contains at least one beginning."""
        return self._forms.keys()

    def spans(self, searched: SearchedText) -> Iterator[Span]:
        """Yield the places where the beginning of a secret is followed by a cut or the end of the text."""
        text = searched.text
        for beginning, forms in self._forms.items():
            at = text.find(beginning) if searched.may_contain(beginning) else -1
            while at >= 0:
                end = at + max(_common_length(text, at, form) for form in forms)
                if end == len(text) or text.startswith(_CUT_MARKS, end):
                    yield at, end, "secret"
                at = text.find(beginning, at + 1)


def _common_length(text: str, at: int, form: str) -> int:
    if text.startswith(form, at):
        return len(form)
    return next(n for n, letter in enumerate(form) if text[at + n : at + n + 1] != letter)
