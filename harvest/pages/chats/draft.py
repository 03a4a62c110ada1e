"""Site files drafted by a program: each finding with its reasons and its certainty as a comment."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from harvest.pages.sites.site import FORMAT

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a page for one `field` of a site file.

    value: what to write there; None if nothing lasting could be found. sure: certainty, 0 to 1. why: the signs. used:
    False if the page is read better without it; it becomes a comment in the draft then.
    """

    field: str
    value: str | None
    sure: float
    why: tuple[str, ...]
    used: bool = True

    def as_json(self) -> dict[str, Any]:
        return {
            "field": self.field,
            "value": self.value,
            "sure": round(self.sure, 3),
            "why": list(self.why),
            "used": self.used and self.value is not None,
        }


def comment_out(findings: Sequence[Finding], fields: Sequence[str], why: str) -> tuple[Finding, ...]:
    """Return the findings, with those of the given fields turned into comments for the reason `why`."""
    return tuple(
        replace(one, used=False, why=(why, *one.why)) if one.field in fields and one.used else one for one in findings
    )


def site_text(name: str, url: str, findings: Sequence[Finding], remarks: Sequence[str] = ()) -> str:
    """Return the text of a site file. Fields that accept a list get all their findings, in order."""
    lines = [f"format: {FORMAT}", f"name: {_quote(name)}"]
    lines += [f"url: {_quote(url)}"]
    for remark in remarks:
        lines += _comment(remark)
    for field in dict.fromkeys(one.field for one in findings):
        several = [one for one in findings if one.field == field]
        lines.append("")
        for one in several:
            lines += _comment(f"{field}: {100 * one.sure:.0f}% sure; {'; '.join(one.why)}")
        used = [one.value for one in several if one.used and one.value is not None]
        given = [one.value for one in several if one.value is not None]
        if used:
            lines.append(f"{field}: {_value(field, used)}")
        elif given:
            lines.append(f"# {field}: {_value(field, given)}")
    return "\n".join(lines) + "\n"


def _value(field: str, values: Sequence[str]) -> str:
    if field in ("open", "dismiss"):
        return "[" + ", ".join(_quote(value) for value in values) + "]"
    if field == "fill":  # entries of a mapping, written as such
        return "{" + ", ".join(values) + "}"
    return _quote(values[0])


def _quote(text: str) -> str:
    """YAML's double quotation marks are JSON's."""
    return json.dumps(text, ensure_ascii=False)


def _comment(text: str) -> list[str]:
    plain = "".join(character if character.isprintable() else " " for character in text)
    return textwrap.wrap(plain, _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_long_words=False)
