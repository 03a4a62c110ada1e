"""CSS selectors as a person writes them in a site file: what is obviously not a selector is refused before a browser is
started.

Only a browser can say for certain whether a selector is valid; an invalid one that is not noticed here is refused
there, by name.
"""

import re

_LONGEST = 1000  # characters
_PAIRS = {"(": ")", "[": "]"}
_FOREIGN = (
    (re.compile(r"^\s*(?:xpath=|\.{0,2}//?\w)"), "XPath"),
    (re.compile(r"^\s*(?:text|css|role|id|data-testid|data-test|internal:\w+)\s*="), "a selector of Playwright"),
    (re.compile(r">>"), "a selector of Playwright (`>>`)"),
    (re.compile(r"^\s*get_?by", re.IGNORECASE), "a call of Playwright"),
    (re.compile(r":(?:has-text|text|text-is|visible|nth-match|near|right-of|left-of|above|below)\b"), "of Playwright"),
    (
        re.compile(r":(?:contains|eq|gt|lt|first|last|even|odd|parent|button|input|selected|hidden)(?![\w-])"),
        "of jQuery",
    ),
    (re.compile(r"::"), "a pseudo-element (`::`), which is no element of the page"),
    (re.compile(r"[{};]"), "a whole style rule, or half of one"),
    (re.compile(r"<"), "HTML"),
)


def checked_selector(css: str) -> str:
    """`css` without space around it. Raises ValueError, in a clause about it, where it can be no selector."""
    text = css.strip()
    if not text:
        raise ValueError("is empty")
    if len(text) > _LONGEST:
        raise ValueError(f"is longer than {_LONGEST} characters")
    bare = _without_strings(text)
    for pattern, what in _FOREIGN:
        if pattern.search(bare):
            raise ValueError(f"is {what}, not CSS" if not what.startswith("a ps") else f"names {what}")
    waiting: list[str] = []
    for sign in bare:
        if sign in _PAIRS:
            waiting.append(_PAIRS[sign])
        elif sign in _PAIRS.values() and (not waiting or waiting.pop() != sign):
            raise ValueError(f"has a {sign} too many")
    if waiting:
        raise ValueError(f"lacks a {waiting[-1]}")
    for part in _parts(bare):
        if not part.strip():
            raise ValueError("has a comma with nothing before or after it")
        if re.match(r"\s*[+~>]", part) or re.search(r"[+~>]\s*$", part):
            raise ValueError("begins or ends with > + or ~")
        if re.search(r"[>+~]\s*[>+~]", part):
            raise ValueError("has two of > + ~ in a row")
    wrong = re.search(r"[.#](?![\w\\-]|[^\x00-\x7f])|(?<![:\w]):(?![\w:-])|:\s|:$", _outside(bare))
    if wrong:
        raise ValueError(f"has a {wrong[0].strip()!r} without a name after it")
    if re.search(r"(?<!\\)[#.][0-9]", _outside(bare)):
        raise ValueError('has a name that begins with a digit: write [id="1…"] or [class~="1…"]')
    return text


def _without_strings(text: str) -> str:
    """With everything in quotation marks and every escaped character as `x`. Raises ValueError for an open one."""
    out, quote, at = [], "", 0
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            out.append("x")
            at += 2
            continue
        if quote:
            out.append(sign if sign == quote else "x")
            quote = "" if sign == quote else quote
        else:
            out.append(sign)
            quote = sign if sign in "\"'" else ""
        at += 1
    if quote:
        raise ValueError(f"has a {quote} that is never closed")
    return "".join(out)


def _parts(text: str) -> list[str]:
    """Between the commas that stand in no brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in _PAIRS) - (sign in _PAIRS.values())
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _outside(text: str) -> str:
    """Without what stands in square brackets."""
    return re.sub(r"\[[^\]]*\]", "[]", text)
