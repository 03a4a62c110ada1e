"""Numbers for people, wherever they may be negative: a value that rounds to zero is shown as zero, without a sign.
A difference of -1e-17, or of -0.04 points, is shown as `0.0`; `-0.0` would say that something fell."""

import math
import re

_ZERO = re.compile(r"^([+-]?)0\.")


def decimal(value: float, digits: int, *, signed: bool = False, bare: bool = False) -> str:
    """Return `-0.5`, and `+0.5` if signed; `n/a` for NaN. digits: after the point. bare: without a zero before it,
    `-.5`."""
    return _write_decimal(value, f".{digits}f", signed=signed, bare=bare)


def significant(value: float, digits: int, *, signed: bool = False) -> str:
    """Return a number with that many significant digits: `0.0123`, `+1.2e-05`; `n/a` for NaN."""
    return _write_decimal(value, f".{digits}g", signed=signed)


def change(value: float, *, share: bool) -> str:
    """Return a difference for a table: of shares in points, `+12.3`, else with four digits, `-.0123`."""
    return decimal(100 * value, 1, signed=True) if share else decimal(value, 4, signed=True, bare=True)


def roughly(number: float) -> str:
    """Round a rough estimate to two digits: `18,000` for 17,866, `37` for 36.6. number: at least 0, finite."""
    whole = math.ceil(number)
    return f"{round(whole, min(0, 2 - len(str(whole)))):,}"


def _write_decimal(value: float, form: str, *, signed: bool, bare: bool = False) -> str:
    if math.isnan(value):
        return "n/a"
    text = f"{value:{'+' if signed else ''}z{form}}"
    if signed and not float(text):
        text = text.removeprefix("+")
    return _ZERO.sub(r"\1.", text) if bare else text
