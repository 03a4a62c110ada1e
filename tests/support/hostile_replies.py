"""Replies by which a system could break what an audit writes, or make it do something."""

from __future__ import annotations

__all__ = ["HOSTILE", "LARGE", "NAMES"]

HOSTILE = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)>]]></failure>&amp;",
    "workflow command": "::error file=a::owned\n::stop-commands::x\r\n  ::add-mask::a\n##[error]owned",
    "XML controls": "".join(map(chr, range(0x20))) + "\x7f\x85\ufffe\uffff\ud800 end",
    "formula": "=1+1",
    "formula with a command": '=cmd|"/c calc"!A1\t@SUM(1)\r\n+1',
    "right to left": "safe \u202egnp.exe\u202c \u2066x\u2069 \u200f\u061c",
    "label": 'a"} 1\nharvest_exit_code{audit="x"} 0\\\n',
    "markdown": "[x](javascript:alert(1)) ![](https://example.org/p.png) @everyone `|` | # <b> https://example.org/",
    "latex": r"\input{/etc/passwd}\write18{id} % $x_1^2$ ~ & #",
    "terminal": "\x1b]0;owned\x07\x1b[2J\x1b[31m",
}
"""By what it is aimed at."""

LARGE = "=large " + "x" * 2**20
"""A reply of 1 MiB."""

NAMES = (*HOSTILE.values(), LARGE)
"""As what a system may call its model."""
