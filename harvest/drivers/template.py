"""Request templates. Values are inserted into parsed JSON, forms and URLs, never into their source text.

`{{ text }}` in a string is replaced by the user turn. The template is parsed first, and inserted values are never
parsed again, so no user turn can close a string, add a field or start another placeholder. A string that consists of
one placeholder becomes the value itself (a number or a list). In any other string, the value is inserted as text.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from pydantic import AfterValidator

from harvest.drivers.options import FromEnvironment, check_query
from harvest.drivers.received import excerpt
from harvest.systems.driver import Surroundings, Unanswered
from protocols.answer import Offer

# text: the user turn. session: the session's id. turn: the turn's number, from 1. history: the exchanges before it, and
# messages: those and the user turn, as lists. id: an id of the turn. visitor: an id of the person who speaks.
PLACEHOLDERS = ("text", "session", "turn", "history", "messages", "id", "visitor")
# Besides these, where an offer is pressed: the title shown, the value sent, and that value as JSON.
PRESS_PLACEHOLDERS = ("title", "value", "value_json")
# Besides these, where a turn has files: a list of them, each in its shape.
FILES = "files"
# In the shape of one of these messages: its role, its text, and an id.
MESSAGE_PLACEHOLDERS = ("role", "text", "id")

_LIST_PLACEHOLDERS = frozenset({"history", "messages", "files"})
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z0-9_]*)\s*\}\}")
_FILES = re.compile(r"\s*\{\{\s*files\s*\}\}\s*")
_OPENING_BRACES = re.compile(r"\{\{")


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A value that is used literally. For example, braces in a secret do not make a placeholder."""

    text: str


def _parse_variables(value: Any) -> Any:
    if isinstance(value, Mapping):
        if "env" in value and set(value) <= {"env", "prefix"}:
            return FromEnvironment.model_validate(dict(value))
        return {key: _parse_variables(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_parse_variables(inner) for inner in value]
    return value


Template = Annotated[Any, AfterValidator(_parse_variables)]
Fields = Annotated[dict[str, Any], AfterValidator(_parse_variables)]
Query = Annotated[Fields, AfterValidator(check_query)]


def check_template(value: object, allowed: Iterable[str] = PLACEHOLDERS) -> None:
    """Raise ValueError if a placeholder is not closed or not allowed here."""
    allowed = tuple(allowed)
    for text in _all_strings(value):
        names = _PLACEHOLDER.findall(text)
        if len(names) != len(_OPENING_BRACES.findall(text)):
            raise ValueError(f"{text!r} contains {{{{ without a complete placeholder such as {{{{ text }}}}")
        for name in names:
            if name not in allowed:
                shown = ", ".join(f"{{{{ {known} }}}}" for known in allowed)
                raise ValueError(f"{{{{ {name} }}}} cannot be used here; allowed: {shown}")
            if name in _LIST_PLACEHOLDERS and not _PLACEHOLDER.fullmatch(text.strip()):
                raise ValueError(f"{{{{ {name} }}}} is a list and must be the whole value, not a part of {text!r}")


def placeholders(value: object) -> frozenset[str]:
    """Return the names of the placeholders in a template."""
    return frozenset(name for text in _all_strings(value) for name in _PLACEHOLDER.findall(text))


def insert_secrets(value: object, surroundings: Surroundings) -> object:
    """Replace every `{env: NAME}`, with or without `prefix`, by its value. Raises InputError for an unset variable."""
    if isinstance(value, FromEnvironment):
        return LiteralValue(value.prefix + surroundings.secret(value.env))
    if isinstance(value, Mapping):
        return {key: insert_secrets(inner, surroundings) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [insert_secrets(inner, surroundings) for inner in value]
    return value


def press_values(offer: Offer, template: object) -> dict[str, object]:
    """Return the values of the placeholders for a press in `template`. Raises Unanswered (`bad-value`) if the value of
    the offer must be JSON and is not."""
    values: dict[str, object] = {"title": offer.title, "value": offer.value or offer.title}
    if "value_json" in placeholders(template):
        try:
            values["value_json"] = json.loads(offer.value)
        except (ValueError, RecursionError):
            what = f"the value of {offer.title[:80]!r} is not JSON: {excerpt(offer.value, 80)!r}"
            raise Unanswered("bad-value", what) from None
    return values


def fill(value: object, values: Mapping[str, object]) -> Any:
    """Fill in a template and return JSON values. `values` maps the names of placeholders to their values."""
    if isinstance(value, LiteralValue):
        return value.text
    if isinstance(value, str):
        whole = _PLACEHOLDER.fullmatch(value.strip())
        if whole:
            return values[whole[1]]
        return _PLACEHOLDER.sub(lambda gap: as_text(values[gap[1]]), value)
    if isinstance(value, Mapping):
        return {key: fill(inner, values) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        filled: list[Any] = []
        for inner in value:
            one = fill(inner, values)
            if isinstance(inner, str) and _FILES.fullmatch(inner):  # parts of a message like others
                filled += one
            else:
                filled.append(one)
        return filled
    return value


def fill_url(url: str, values: Mapping[str, object]) -> str:
    """Fill in a URL. Each value is percent-encoded, so that it stays one segment of a path or one value of a query."""

    def part(gap: re.Match[str]) -> str:
        quoted = quote(as_text(values[gap[1]]), safe="", errors="surrogatepass")
        return quoted.replace(".", "%2E") if quoted in (".", "..") else quoted  # unescaped, they would go up the path

    return _PLACEHOLDER.sub(part, url)


def add_query(url: str, filled: Mapping[str, object]) -> str:
    """Return the URL with further fields in its query."""
    query = encode_form(filled)
    return url + ("&" if "?" in url else "?") * bool(query) + query


def encode_form(filled: Mapping[str, object]) -> str:
    """Return the fields of a form or a query, escaped."""
    # A reply that is sent back may contain a lone surrogate.
    return urlencode(form_values(filled), errors="surrogatepass")


def form_values(filled: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the fields of a form or a query. Null is left out, and each element of a list becomes a field."""
    fields: list[tuple[str, str]] = []
    for name, value in filled.items():
        if isinstance(value, list) and not any(isinstance(inner, (list, dict)) for inner in value):
            fields += [(name, as_text(inner)) for inner in value]
        elif value is not None:
            fields.append((name, as_text(value)))
    return fields


def as_text(value: object) -> str:
    """Return a value as text. Strings are unchanged, null becomes "", and other values become JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _all_strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _all_strings(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _all_strings(inner)
