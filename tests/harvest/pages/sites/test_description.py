"""Site files: what they take, what they mean, and what is said where something in one is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from harvest.pages.sites.site import KINDS, Block, Site, checked_selector, encode_site, load_site, parse_site, site_of
from tests.support.checkout import DOCS
from topics.errors import InputError

HEAD = "format: harvest-site/1\nname: desk\n"
FULL = (
    HEAD
    + """about: the library's desk
url: https://desk.example.org/#/chat
frame: widget.example.org/chat
open: [.launcher, "button.start"]
new_chat: "[data-testid=new]"
dismiss: .reject
composer: "#prompt textarea"
send: button[aria-label="Send"]
user: .user
reply: .bot .text
leave_out: .name, time
sources: aside ol
busy: .typing
ready: .connected
ended: .closed
blocked:
  - {kind: rate-limit, text: Too many requests}
  - {kind: error, selector: "[role=alert]", text: "/robots? (?:is|are) asleep/"}
quiet: 3
delay: 0.5
"""
)


def test_a_site_needs_nothing_but_format_and_name() -> None:
    site = parse_site(HEAD)
    assert (site.name, site.selectors, site.send_key, site.blocked) == ("desk", {}, None, ())


def test_every_selector_gets_the_name_it_is_marked_with() -> None:
    site = parse_site(FULL)
    assert site.selectors == {
        "new_chat": "[data-testid=new]",
        "composer": "#prompt textarea",
        "user": ".user",
        "reply": ".bot .text",
        "leave_out": ".name, time",
        "sources": "aside ol",
        "busy": ".typing",
        "ready": ".connected",
        "ended": ".closed",
        "send": 'button[aria-label="Send"]',
        "open-1": ".launcher",
        "open-2": "button.start",
        "dismiss-1": ".reject",
        "blocked-2": "[role=alert]",
    }
    assert site.send_key is None
    assert [name for name, _ in site.each_block()] == ["blocked-1", "blocked-2"]


@pytest.mark.parametrize(
    ("send", "key"),
    [
        ("enter", "Enter"),
        ("Control+Enter", "Control+Enter"),
        ("cmd+return", "Meta+Enter"),
        ("ctrl+shift+enter", "Control+Shift+Enter"),
        ("enter-button", None),
    ],
)
def test_send_is_a_key_or_a_selector(send: str, key: str | None) -> None:
    site = parse_site(HEAD + f"send: {send}\n")
    assert site.send_key == key
    assert ("send" in site.selectors) is (key is None)


def test_plain_words_and_patterns_are_searched_for_without_case_and_extra_space() -> None:
    plain, pattern = (block.pattern for block in parse_site(FULL).blocked)
    assert plain is not None
    assert plain.search("sorry: TOO many requests!")
    assert pattern is not None
    assert pattern.search("The Robots are asleep")
    assert not pattern.search("The robots are awake")


@pytest.mark.parametrize(
    ("lines", "where", "what"),
    [
        ("composr: x\n", "3:1", "unknown key 'composr': did you mean 'composer'?"),
        ("composer: ''\n", "3:11", "the selector '' is empty"),
        ("composer: 5\n", "3:11", "composer: must be text"),
        ("reply: .a >> .b\n", "3:8", "is a Playwright selector"),
        ("reply: 'a:contains(\"b\")'\n", "3:8", "of jQuery"),
        ("open:\n  - .a\n  - '[b'\n", "5:5", "the selector '[b' is missing a ]"),
        ("send: '> button'\n", "3:7", "begins or ends with `>`, `+` or `~`"),
        ("url: ftp://a.example\n", "3:6", "not a URL that starts with http:// or https://"),
        ("url: https://me:secret@a.example\n", "3:6", "must not contain a user name or a password"),
        ("quiet: 0\n", "3:8", "quiet"),
        ("delay: soon\n", "3:8", "delay: must be a number"),
        ("blocked: [{kind: toast, text: a}]\n", "3:18", "kind: is not one of the words allowed here"),
        ("blocked: [{kind: error}]\n", "3:11", "a selector or a text is required"),
        ("blocked: [{kind: error, text: '/(a+)+/'}]\n", "3:31", "the pattern /(a+)+/"),
        ("blocked: [{kind: error, text: ' '}]\n", "3:31", "the text must not be empty"),
        ("frame: ''\n", "3:8", "frame"),
    ],
)
def test_a_fault_is_reported_with_its_place(lines: str, where: str, what: str) -> None:
    with pytest.raises(InputError) as fault:
        parse_site(HEAD + lines, "desk.yaml")
    assert str(fault.value).startswith(f"desk.yaml:{where}: ")
    assert what in str(fault.value)


def test_a_file_of_another_kind_is_named() -> None:
    with pytest.raises(InputError, match="this is not a site file"):
        parse_site("format: harvest-audit/1\nname: x\n")
    with pytest.raises(InputError, match="add it: format: harvest-site/1"):
        parse_site("name: x\n")
    with pytest.raises(InputError, match="a site file must be a mapping"):
        parse_site("just words")


def test_a_site_is_read_from_a_file_or_inline_without_a_name(tmp_path: Path) -> None:
    (tmp_path / "desk.yaml").write_text(FULL)
    assert load_site(tmp_path / "desk.yaml") == parse_site(FULL)
    inline = site_of({"composer": "#a", "open": ["b"]})
    assert (inline.composer, inline.open, inline.name) == ("#a", ("b",), None)
    with pytest.raises(InputError, match="no such file"):
        load_site(tmp_path / "none.yaml")


def test_a_written_site_is_read_back_equal() -> None:
    site = parse_site(FULL)
    assert site_of(encode_site(site)) == site
    assert encode_site(site_of({})) == {}


@pytest.mark.parametrize(
    "css",
    [
        "#a",
        "a:is(b, c) > d",
        'div[data-x="a>b, (c"]',
        "[aria-label='Ask: me']",
        r".sm\:flex",
        "a:nth-child(2n + 1)",
        "input:not([type=hidden])",
        "x-chat",
        "日本",
        "*",
    ],
)
def test_selectors_valid_in_a_browser_are_accepted(css: str) -> None:
    assert checked_selector(f" {css} ") == css


@pytest.mark.parametrize(
    "css",
    [
        "//div",
        "text=Send",
        "a:has-text('x')",
        "a::before",
        "a,,b",
        "a >",
        "a]",
        "'a",
        ".",
        "a:",
        "#1a",
        "a{}",
        "<a>",
        ".b:first",
    ],
)
def test_an_invalid_selector_is_refused(css: str) -> None:
    with pytest.raises(ValueError, match=r"^the selector .* (is|has|names|uses|contains|begins|lacks) "):
        checked_selector(css)


@given(st.text(max_size=40))
def test_any_text_is_accepted_or_refused_with_a_reason(text: str) -> None:
    reason = "taken"
    try:
        taken = checked_selector(text)
    except ValueError as fault:
        taken, reason = text.strip(), str(fault)
    assert taken == text.strip()
    assert reason


def test_the_page_about_sites_agrees_with_the_code() -> None:
    """Its tables are made of the model; its example is a whole file and uses every field."""
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "renew the tables with: python -m tests.harvest.pages.sites.test_description"
    (example,) = re.findall(r"```yaml\n(format: .*?)```", page, re.DOTALL)
    site = parse_site(example)
    assert set(type(site).model_fields) - site.model_fields_set == set()
    for inline in re.findall(r"```yaml\n(systems:.*?)```", page, re.DOTALL):
        assert "driver: browser" in inline
    for kind in KINDS:
        assert f"| `{kind}` |" in page


PAGE = DOCS / "sites.md"
_BLOCK = re.compile(r"(<!-- fields: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def renewed(page: str) -> str:
    return _BLOCK.sub(lambda block: block[1] + _table(block[2]) + block[3], page)


def _table(name: str) -> str:
    model: type[BaseModel] = Site if name == "site" else Block
    rows = ["| field | is | meaning |", "| --- | --- | --- |"]
    for key, field in model.model_fields.items():
        rows.append(f"| `{key}` | {_IS.get(key, 'a selector')} | {field.description} |")
    return "\n".join(rows) + "\n"


_IS = {
    **dict.fromkeys(("format", "name", "about", "frame", "text"), "text"),
    "url": "a URL",
    **dict.fromkeys(("open", "dismiss"), "a selector, or a list of them"),
    "send": "a selector, or a key",
    "blocked": "a list",
    "fill": "a mapping",
    "quiet": "a number",
    "delay": "a number",
    "kind": "a word",
}

if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
