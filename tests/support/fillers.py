"""What a hostile or broken system fills megabytes with: each piece, said again and again, is slow to look at where
something goes back over what it has seen."""

from __future__ import annotations

import json

__all__ = ["FILLERS", "HINTS", "filled"]

HINTS = (
    "PRIVATE KEY authorization: api-key sk- k_live_ gsk_ AKIA ASIA ghp_ github_pat_ glpat- xox xapp- hooks.slack.com "
    "AIza ya29. hf_ eyJ token secret pass pwd x-amz- :// cookie \\u0041 &#65; %41 \u200b \x1b[0m\n"
)
"""One of everything that makes a secret possible, so that nothing is passed over for want of a hint."""

FILLERS = {
    "words": "plain words of a reply, ",
    "one letter": "x",
    "spaces": " ",
    "lines": "\n",
    "links": "https://a.example/b ",
    "Markdown links": "[a](https://a.example/b) ",
    "links without a space": "https://a.example/b,",
    "hosts without an end": "https://a.b.c.d.e.f.",
    "users of hosts": "https://a@",
    "schemes": "https://",
    "brackets": "[",
    "images": "![",
    "brackets of links": "[](",
    "links that stay open": "[a](https://a.example/b ",
    "backslashes": "\\",
    "quotation marks": '"',
    "cookie:[": "cookie:[",
    'cookie:"': 'cookie:"',
    "cookie: a=": "cookie: a=",
    "set-cookie": "set-cookie: a=b; ",
    "authorization": "authorization:",
    "authorization bearer": "authorization: bearer a",
    "authorization slashes": "authorization\\\\\\\\",
    "api-key": 'api-key":"',
    "PEM begins": "-----BEGIN PRIVATE KEY-----",
    "PEM lines": "-----BEGIN RSA PRIVATE KEY-----\naaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
    "PEM words": "-----BEGIN AAAAAAAAAAAAAAAAAAAA ",
    "JSON web tokens": "eyJaaaaaaaaaaaa.",
    "keys": "sk-a.",
    "long keys": "sk-aaaaaaaaaaaaaaaaaaaaaaaa ",
    "parameters": "&token=",
    "parameters with values": "?api_key=%2",
    "passwords": "://a:",
    "long passwords": "://" + "a" * 90 + ":" + "b" * 190 + " ",
    "JSON escapes": "\\u006b",
    "escapes of others": "\\u3042",
    "entities": "&#107;",
    "percent": "%6b",
    "no width": "k\u200b",
    "colours": "\x1b[0mk",
    "objects": '{"a":"b"},',
    "tables": "| a | b |\n",
    "emphasis": "_a_*b*",
    "Japanese": "申し訳ありません。",
    "accents": "a\u0301\u0327",
    "emoji": "\U0001f600",
}


def filled(piece: str, size: int) -> str:
    """A text that takes about `size` bytes in JSON: every hint once, then the piece again and again."""
    return HINTS + piece * ((size - len(_written(HINTS))) // len(_written(piece)))


def _written(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()[1:-1]
