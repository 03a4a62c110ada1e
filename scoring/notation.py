"""The notation of measures: `R`, `GF(RATINGS, by=RNOD)`, `SWAN(weights=linear(L=1250))`, `CVaR(R, beta=0.25)`.

    parse(text)   the term that a string contains. InputError gives the column of a fault
    str(term)     the canonical form: parse(str(term)) == term, and equal terms have equal strings

A term is a name, followed in brackets by its arguments and then its parameters as name=value. A value is a number, a
term, or a product of terms (`linear(L=1250)*last_turn`), which is a term called `*`. `%useful S1` is short for
`%useful(turn=1)`. A name with other characters is written in quotation marks: `"A & B"`. The command line reads this
notation, so every measure can be requested by its printed name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from topics.errors import InputError, Place

PRODUCT = "*"

_TURN = re.compile(r"S([1-9]\d{0,8})")
_LIKE_TURN = re.compile(r"[Ss]\d+")

_DEEPEST = 20  # brackets; reading recurses
_LONGEST = 2000  # characters
# Blocks with the marks that belong to letters, which `\w` does not include: vowel signs of Hindi and Thai, for example.
_MARKS = r"\u0300-\u1dff\u3099\u309a\ua800-\uabff"
# With dots and slashes inside, which names of sites and their pages have.
_NAME = rf"[^\W\d][\w%{_MARKS}-]*(?:[./][\w%{_MARKS}-]+)*"
_TOKEN = re.compile(
    r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"|'
    r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w%]))"
    rf"|(?P<name>{_NAME}(?:\*(?=\s*[,)]))?|%[\w%-]+)|(?P<mark>[(),=*]))"
)
_PLAIN = re.compile(rf"{_NAME}\*?|%[\w%-]+")
_ADVICE = "write it as tables print it, for example GF(RATINGS, by=NMD) or SWAN(weights=linear(L=1250)), _ for a space"


@dataclass(frozen=True, slots=True)
class Term:
    """A name with its arguments, in order, and its (name, value) parameters, sorted so that terms can be compared.
    A plain name consists of letters, digits, `_`, `-` and `%`, with dots and slashes inside, and may end in `*` before
    `,` or `)`. A product is called `*`."""

    name: str
    arguments: tuple[Value, ...] = ()
    parameters: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        names = [name for name, _ in self.parameters]
        if len(set(names)) < len(names):
            raise ValueError(f"a parameter of {self.name} is given twice")
        object.__setattr__(self, "parameters", tuple(sorted(self.parameters)))

    def get(self, name: str) -> Value | None:
        """Return the parameter's value, or None if it is not given."""
        return dict(self.parameters).get(name)

    def __str__(self) -> str:
        if self.name == PRODUCT:
            return PRODUCT.join(map(_write_value, self.arguments))
        name = self.name if _PLAIN.fullmatch(self.name) else '"' + self.name.replace('"', '""') + '"'
        inside = [_write_value(value) for value in self.arguments]
        turn = self.turn
        inside += [f"{name}={_write_value(value)}" for name, value in self.parameters if name != "turn" or turn is None]
        return (f"{name}({', '.join(inside)})" if inside else name) + (f" S{turn}" if turn else "")

    @property
    def turn(self) -> int | None:
        """The number of the system turn, from 1, or None if the term contains no turn."""
        turn = self.get("turn")
        return int(turn) if isinstance(turn, float) and turn.is_integer() and 1 <= turn < 1e9 else None


# A number or a term; a bare word such as RATINGS is a term without arguments.
Value: TypeAlias = float | Term


def parse(text: str) -> Term:
    """Parse a term. Raises InputError with the column, counted from 1."""
    found = list(parse_all(text))
    if len(found) != 1:
        raise InputError(f"expected one measure, not {len(found)}: {text!r}", advice=_ADVICE)
    return found[0]


def parse_all(text: str) -> tuple[Term, ...]:
    """Parse a list of terms separated by commas, which may be empty. Raises InputError as `parse` does."""
    reader = _Reader(text)
    found: list[Term] = []
    while not reader.is_at_end:
        if found:
            reader.consume(",")
        value = reader.value(0)
        if not isinstance(value, Term):
            raise reader.fault("a measure must begin with a name, not a number")
        found.append(value)
    return tuple(found)


class _Reader:
    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise InputError(f"the measure has {len(text)} characters", allowed=f"at most {_LONGEST}")
        self._text = text
        self._tokens = list(_tokens(text))
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._tokens)

    def peek(self, mark: str) -> bool:
        return not self.is_at_end and self._tokens[self._at][:2] == ("mark", mark)

    def consume(self, mark: str, *, or_else: str = "") -> None:
        if not self.peek(mark):
            raise self.fault(f"{mark!r} or {or_else!r} is missing" if or_else else f"{mark!r} is missing")
        self._at += 1

    def value(self, depth: int) -> Value:
        found = self.single(depth)
        if not self.peek(PRODUCT):
            return found
        factors = [found]
        while self.peek(PRODUCT):
            self._at += 1
            factors.append(self.single(depth))
        if not all(isinstance(factor, Term) for factor in factors):
            raise self.fault("a factor must be a name, not a number")
        return Term(PRODUCT, tuple(factors))

    def single(self, depth: int) -> Value:
        if self.is_at_end or self._tokens[self._at][0] == "mark":
            raise self.fault("a name or a number is missing")
        if depth > _DEEPEST:
            raise self.fault(f"brackets are nested more than {_DEEPEST} deep")
        kind, text, _ = self._tokens[self._at]
        if kind == "number":
            number = float(text)
            if not math.isfinite(number):
                raise self.fault(f"{text} is too large a number")
            self._at += 1
            return number + 0.0
        self._at += 1
        if kind == "quoted":
            return Term(text.replace('""', '"'))
        if not self.peek("("):
            return Term(text, parameters=self._turn())
        self._at += 1
        arguments: list[Value] = []
        parameters: dict[str, Value] = {}
        while not self.peek(")"):
            if arguments or parameters:
                self.consume(",", or_else=")")
            if self._names_a_parameter():
                name = self._tokens[self._at][1]
                if name in parameters:
                    raise self.fault(f"{name} is given twice")
                self._at += 2
                parameters[name] = self.value(depth + 1)
            elif parameters:
                raise self.fault("arguments must come before parameters")
            else:
                arguments.append(self.value(depth + 1))
        self.consume(")")
        if "turn" not in parameters:
            parameters.update(self._turn())
        return Term(text, tuple(arguments), tuple(parameters.items()))

    def _turn(self) -> tuple[tuple[str, Value], ...]:
        written = "" if self.is_at_end else self._tokens[self._at][1]
        found = _TURN.fullmatch(written)
        if found is None:
            if _LIKE_TURN.fullmatch(written):
                raise self.fault(f"{written} is not a system turn", allowed="S1, S2, …, S999999999")
            return ()
        self._at += 1
        return (("turn", float(found[1])),)

    def _names_a_parameter(self) -> bool:
        following = self._tokens[self._at : self._at + 2]
        return [token[0] for token in following] == ["name", "mark"] and following[1][1] == "="

    def fault(self, what: str, *, allowed: str | None = None) -> InputError:
        column = self._tokens[self._at][2] if not self.is_at_end else len(self._text)
        place = Place("measure", 1, column + 1)
        return InputError(f"{what} in {self._text!r}", place=place, allowed=allowed, advice=_ADVICE)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    at = 0
    end = len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            column = at + len(text[at:]) - len(text[at:].lstrip())
            raise InputError(
                f"{text[column]!r} is not allowed in {text!r}", place=Place("measure", 1, column + 1), advice=_ADVICE
            )
        yield found.lastgroup, found[found.lastgroup], found.start(found.lastgroup)
        at = found.end()


def number_text(value: float) -> str:
    """Format a number for the notation of measures: exact, and whole numbers without a decimal point."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _write_value(value: Value) -> str:
    return str(value) if isinstance(value, Term) else number_text(value)
