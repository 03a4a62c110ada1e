"""Conversion of inline text to Markdown: white space as a browser shows it, emphasis, code and links. While a line is
built, noncharacters replace everything that must not change yet: visible white space, line breaks, and emphasis
marks, which cancel out if two meet."""

import re

from topics.addresses import canonical_url
from topics.links import find_urls

SPACE, BREAK = "\ufdd0", "\ufdd1"
_BARE, _BARE_END, _BARE_HREF = "\ufdd8", "\ufdd9", "\ufdda"
_NONCHARACTERS = re.compile("[\ufdd0-\ufdef]")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\ue000-\uf8ff]")  # and the letters of icon fonts
_INDENT = re.compile("\xa0{2,}")
_UNBROKEN = re.compile(r"\S*")
_WHITE = re.compile(r"[ \t\r\n\f]+")
_AROUND_BREAK = re.compile(rf"[ {SPACE}]*{BREAK} *")
_BARE_URL = re.compile(f"{_BARE}([^{_BARE_HREF}]*){_BARE_HREF}([^{_BARE_END}]*){_BARE_END}")


class Marks:
    """Kinds of emphasis. Each kind has an opening and a closing noncharacter, and one mark in Markdown."""

    STRONG = "\ufdd2\ufdd3"
    EMPHASIS = "\ufdd4\ufdd5"
    DELETED = "\ufdd6\ufdd7"
    WRITTEN = ((STRONG, "**"), (EMPHASIS, "*"), (DELETED, "~~"))


def visible_text(text: str, space: str) -> str:
    """Return a text with its white space as shown. `space` is `pre`, `line` or "", as in a page's `h-space`."""
    text = _INVISIBLE.sub("", _NONCHARACTERS.sub("", text))
    # Several of them are an indent or a gap between columns; one is only a space that no line may break at.
    text = _INDENT.sub(lambda found: SPACE * len(found[0]), text).replace("\xa0", " ")
    if space == "pre":
        return text.replace("\r\n", "\n").replace("\n", BREAK).replace(" ", SPACE)
    if space == "line":
        return BREAK.join(_WHITE.sub(" ", line) for line in text.split("\n"))
    return _WHITE.sub(" ", text)


def emphasise(inner: str, mark: str) -> str:
    """Put a text between emphasis marks. White space at its ends stays outside, as Markdown requires."""
    core = inner.strip(f" {SPACE}{BREAK}")
    if not core or BREAK + BREAK in core:
        return inner
    start = inner.index(core)
    return f"{inner[:start]}{mark[0]}{core}{mark[1]}{inner[start + len(core) :]}"


def write_code(code: str, kept: bool) -> str:
    """Return code between backticks. Set `kept` if its white space is shown."""
    code = _NONCHARACTERS.sub("", code)
    code = code.replace("\n", " ") if kept else _WHITE.sub(" ", code)
    if not code.strip():
        return " " if code else ""
    longest = max((len(ticks) for ticks in re.findall(r"`+", code)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{fence}{pad}{code}{pad}{fence}".replace(" ", SPACE)


def write_link(label: str, href: str, title: str) -> str:
    """Return a link with its label. If the label is the URL, return only the URL; if there is no target, return only
    the label. `title` replaces the missing label of a link around a picture."""
    scheme = href.partition(":")[0].lower()
    if scheme not in ("http", "https", "mailto", "tel", "ftp") or ":" not in href:
        return label
    core = label.strip(f" {SPACE}{BREAK}")
    start = label.index(core) if core else 0
    before, after = label[:start], label[start + len(core) :]
    words = re.sub(rf"[ {SPACE}{BREAK}]+", " ", core) or visible_text(title, "").strip()
    plain = finish_line(words)
    if not words or canonical_url(plain) == canonical_url(href):
        return f"{before}{_BARE}{plain or href}{_BARE_HREF}{href}{_BARE_END}{after}"
    if scheme in ("mailto", "tel") and plain in (href, href.partition(":")[2]):
        return label
    return f"{before}{_markdown_link(words, href)}{after}"


def finish_line(line: str) -> str:
    """Return the line as Markdown. Noncharacters are replaced by their meaning, and hidden white space is dropped."""
    for mark, sign in Marks.WRITTEN:
        line = line.replace(mark[1] + mark[0], "")
        line = line.replace(mark[0], sign).replace(mark[1], sign)
    line = re.sub(r" +", " ", line)
    line = re.sub(rf" ?({SPACE}+) ?", r"\1", line)
    line = _AROUND_BREAK.sub(BREAK, line).strip(f" {SPACE}{BREAK}")
    line = line.replace(SPACE, " ").replace(BREAK, "\n")
    return _BARE_URL.sub(_bare_link, line) if _BARE in line else line


def _bare_link(match: re.Match[str]) -> str:
    """Return the URL unchanged if Markdown recognises it here, or otherwise a link labelled with the URL."""
    url, href = match[1], match[2]
    begins = match.start()
    while begins and not match.string[begins - 1].isspace():
        begins -= 1
    after = _UNBROKEN.match(match.string, match.end())
    left = _NONCHARACTERS.sub("", match.string[begins : match.start()])
    right = _NONCHARACTERS.sub("", after[0] if after else "")
    found = [mention.href for mention in find_urls(f"{left}{url}{right}") if mention.start == len(left)]
    if any(canonical_url(mention) == canonical_url(href) for mention in found):
        return url
    return _markdown_link(url, href)


def _markdown_link(words: str, href: str) -> str:
    depth = 0
    for sign in re.findall(r"\\.|[\[\]]", words):
        depth += {"[": 1, "]": -1}.get(sign, 0)
        if depth < 0:
            break
    if depth:
        words = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", words)
    depth = 0
    for sign in re.findall(r"[()]", href):
        depth += 1 if sign == "(" else -1
        if depth < 0:
            break
    if depth or re.search(r"[\s<>]", href):
        escaped = re.sub(r"[()<>\s]", lambda sign: f"%{ord(sign[0]):02X}", href)
        href = escaped if re.search(r"[\n<>]", href) else f"<{href}>"
    return f"[{words}]({href})"
