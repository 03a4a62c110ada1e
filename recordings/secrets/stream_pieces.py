"""What the pieces of a kept stream say together: a secret may be cut in two by them.

A stream is a line for each piece, and a piece holds a part of the reply as a field of its JSON (`"content":"so sk-"`),
or is plain text. Which field holds the reply is the system's affair, so the values of every field are put together by
its name.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

_FIELD = re.compile(r'"([^"\\\s]{1,40})"\s{0,4}:\s{0,4}"((?:[^"\\\n]|\\.)*+)"')
_LINE = re.compile(r"^(data): ?([^\[{\"\r\n][^\r\n]*+)", re.MULTILINE)


def over_pieces(text: str, clean: Callable[[Sequence[str]], Sequence[str]]) -> str:
    """`text`, a stream, after `clean` has seen the pieces of each field as one; it gives them back one for one."""
    for expression in (_FIELD, _LINE):
        fields: defaultdict[str, list[str]] = defaultdict(list)
        for name, piece in expression.findall(text):
            fields[name].append(piece)
        cleaned = {name: clean(pieces) for name, pieces in fields.items() if _goes_on(pieces)}
        changed = {name: iter(pieces) for name, pieces in cleaned.items() if list(pieces) != fields[name]}
        if changed:
            text = _put_back(text, expression, changed)
    return text


def _goes_on(pieces: list[str]) -> bool:
    """Not one value, said with every piece."""
    return pieces.count(pieces[0]) < len(pieces)


def _put_back(text: str, expression: re.Pattern[str], changed: dict[str, Iterator[str]]) -> str:
    kept, at = [], 0
    for match in expression.finditer(text):
        if match[1] in changed:
            kept += [text[at : match.start(2)], next(changed[match[1]])]
            at = match.end(2)
    return "".join([*kept, text[at:]])
