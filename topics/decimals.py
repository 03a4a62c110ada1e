"""Numbers for people. A value that rounds to zero is shown without a sign.

A difference of -1e-17, or of -0.04 points, is shown as `0.0`, because `-0.0` would suggest a decrease. A number that is
in the middle between two others is rounded to the even one. It counts as in the middle even if it was computed with an
error in the last bits: 23 of 40 are 58% also as 100 * 0.575, which is 57.49999999999999.
"""

import math
import re

# An interval as it is printed, such as `[-7.2, +3.2]`, or its name, `[low, high]`. Lines are never broken within one.
INTERVAL = re.compile(r"\[[^\[\]<>\n]{1,24}, [^\[\]<>\n]{1,24}\]")

# Decimals beyond the printed ones that tell a number from the middle between two.
_EXACT = 9

_ZERO = re.compile(r"^([+-]?)0\.")


def decimal(value: float, digits: int, *, signed: bool = False, bare: bool = False) -> str:
    """Format a number with `digits` after the point, such as `-0.5`. With `signed`, positive numbers have a plus
    sign. With `bare`, the zero before the point is omitted, as in `-.5`. NaN is `n/a`."""
    return _write_decimal(_round(value, digits), f".{digits}f", signed=signed, bare=bare)


def percent(share: float, digits: int = 0) -> str:
    """Format a share as a percentage with `digits` after the point, such as `58%`. NaN is `n/a`."""
    return "n/a" if math.isnan(share) else f"{decimal(100 * share, digits)}%"


def significant_digits(value: float, digits: int, *, signed: bool = False) -> str:
    """Format a number with `digits` significant digits, such as `0.0123` or `+1.2e-05`. NaN is `n/a`."""
    return _write_decimal(value, f".{digits}g", signed=signed)


def format_change(value: float, *, share: bool) -> str:
    """Format a difference for a table. Differences of shares are in percentage points, such as `+12.3`. Any other
    difference has four digits, such as `-.0123`."""
    return decimal(100 * value, 1, signed=True) if share else decimal(value, 4, signed=True, bare=True)


def round_roughly(number: float) -> str:
    """Round a rough estimate (at least 0 and finite) to two digits. For example, 17,866 becomes `18,000`."""
    whole = math.ceil(number)
    return f"{round(whole, min(0, 2 - len(str(whole)))):,}"


def _round(value: float, digits: int) -> float:
    """Round half to even, after the error of the last bits is removed. Large numbers have no decimals to round."""
    if not abs(value) < 1e9:
        return value
    scaled = round(value * 10**digits, _EXACT)
    return round(scaled) / 10**digits if abs(scaled % 1 - 0.5) < 10**-_EXACT else value


def _write_decimal(value: float, form: str, *, signed: bool, bare: bool = False) -> str:
    if math.isnan(value):
        return "n/a"
    text = f"{value:{'+' if signed else ''}z{form}}"
    if signed and not float(text):
        text = text.removeprefix("+")
    return _ZERO.sub(r"\1.", text) if bare else text
