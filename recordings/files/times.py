"""Times in recordings: instants as ISO 8601 in UTC, and durations in seconds, with microseconds in both."""

import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

# Returns the current time, with its time zone.
Now = Callable[[], datetime]

_UNITS = (1, 1e3, 1e6, 1e9)  # parts of a second that programs count from 1970: s, ms, µs, ns
# Seconds since 1970, in 1973 and in 2242. A number is read in the unit in which it lies between them.
_EARLIEST, _LATEST = 10**8, 2**33
_DIGITS = re.compile(r"\d{9,19}(\.\d+)?", re.ASCII)
_THOUSANDTHS = re.compile(r"\d{1,13}", re.ASCII)
_ZONE = re.compile(r"\s*(Z|UTC|GMT|[+-]\d\d:?\d\d)$", re.ASCII)
_OTHER_FORMS = (  # without their zone
    *("%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d, %H:%M:%S", "%Y.%m.%d %H:%M:%S"),
    *("%a %b %d %H:%M:%S %Y", "%b %d, %Y %H:%M:%S", "%B %d, %Y %H:%M:%S", "%b %d, %Y %I:%M:%S %p"),
    *("%d %b %Y %H:%M:%S", "%d %B %Y %H:%M:%S", "%d/%b/%Y:%H:%M:%S", "%B %d, %Y %I:%M %p", "%b %d, %Y %I:%M %p"),
    *("%Y/%m/%d", "%Y.%m.%d", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%d. %B %Y"),
)
_NUMBERS = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})(?=$|,? )", re.ASCII)
_ZONE_WITHIN = re.compile(r"(?<=\d) ([+-]\d{4})(?= \d{4}$)", re.ASCII)  # Sat Jan 31 12:00:00 +0000 2026


def utc_now() -> datetime:
    return datetime.now(UTC)


def stamp(time: datetime) -> str:
    """Format `time` as ISO 8601 in UTC with microseconds. Raises ValueError if `time` has no time zone."""
    if time.tzinfo is None:
        raise ValueError("the time has no time zone")
    return (time if time.tzinfo is UTC else time.astimezone(UTC)).isoformat(timespec="microseconds")


def day_of(written: str) -> date | None:
    """Return the day at the beginning of a text such as `2026-01-31` or a stamp; None if it does not begin with one."""
    try:
        return date.fromisoformat(written[:10])
    except ValueError:
        return None


def unix_seconds(written: str) -> float:
    """Return the seconds since 1970 of a time in ISO 8601 (in UTC if there is no zone), or -inf for other text."""
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return -math.inf
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def zoned_seconds(written: str) -> float | None:
    """Return the seconds since 1970 of a time in ISO 8601 that names its zone; None for other text."""
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo is not None else None


def format_seconds(since_1970: float, form: str) -> str:
    """Format seconds since 1970, in UTC, by the directives of strftime."""
    return datetime.fromtimestamp(since_1970, UTC).strftime(form)


def compact_stamp(time: datetime) -> str:
    """Format `time` as ISO 8601 in UTC without separators, such as `20260131T120000Z`."""
    return time.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def normalise_time(written: str) -> str:
    """Reformat a time in ISO 8601 as `stamp` does, assuming UTC if there is no zone. Other text is unchanged."""
    try:
        found = datetime.fromisoformat(written)
        return stamp(found if found.tzinfo else found.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return written


def parse_foreign_time(value: object) -> str:
    """Convert a time that another program wrote to ISO 8601; a time in ISO 8601 is unchanged. Returns "" for other
    values and for ambiguous times: a time of day, or a date whose day and month may be in either order.

    The value may be text in ISO 8601, in the format of mail headers (RFC 2822) or in a common log format; a number (or
    its digits) of seconds since 1970, or of milliseconds and smaller units; or an object of a database, such as
    {"$date": …} or {"seconds": …}. UTC is assumed if there is no zone.
    """
    if isinstance(value, str) and value and unix_seconds(value) != -math.inf:
        return value
    try:
        return next(map(stamp, _parse_instant(value)), "")
    except (OverflowError, ValueError):  # outside the supported years
        return ""


def _parse_instant(value: object) -> Iterator[datetime]:
    if isinstance(value, dict):
        yield from _from_timestamp({str(key).lstrip("_$").casefold(): one for key, one in value.items()})
    elif isinstance(value, str):
        text = value.strip()
        if _DIGITS.fullmatch(text):
            yield from _since_1970(float(text))
        else:
            yield from _parse_formats(text)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _since_1970(value)


def _since_1970(number: float) -> Iterator[datetime]:
    for unit in _UNITS:
        if (_EARLIEST if unit > 1 else 0) < number / unit < _LATEST:
            yield datetime.fromtimestamp(number / unit, UTC)
            return


def _from_timestamp(value: dict[str, object]) -> Iterator[datetime]:
    seconds, parts = value.get("seconds", value.get("sec")), value.get("nanoseconds", value.get("nanos", 0))
    if isinstance(seconds, (int, str)) and isinstance(parts, int) and abs(parts) < 10**9:
        for found in _parse_instant(seconds):
            yield found + timedelta(microseconds=parts // 1000)
    elif len(value) == 1:
        ((key, one),) = value.items()
        if key == "date" and isinstance(one, dict) and len(one) == 1:  # {"$date": {"$numberLong": "…"}}
            (one,) = one.values()
        if key == "date" and isinstance(one, (int, str)) and _THOUSANDTHS.fullmatch(str(one)):
            yield datetime.fromtimestamp(int(one) / 1000, UTC)
        elif not isinstance(one, dict) and (text := parse_foreign_time(one)):
            yield datetime.fromtimestamp(unix_seconds(text), UTC)


def _parse_formats(text: str) -> Iterator[datetime]:
    if unix_seconds(text) != -math.inf:
        yield datetime.fromtimestamp(unix_seconds(text), UTC)
    try:
        found = parsedate_to_datetime(text)
        yield found if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        pass
    # A day above 12 shows which of two numbers is the month.
    if numbers := _NUMBERS.match(text):
        first, second = int(numbers[1]), int(numbers[3])
        if first == second or max(first, second) > 12:
            month, day = sorted((first, second))
            text = f"{numbers[4]}/{month}/{day}{text[numbers.end() :].replace(',', '', 1)}"
    if within := _ZONE_WITHIN.search(text):
        text = f"{text[: within.start()]}{text[within.end() :]} {within[1]}"
    zone = _ZONE.search(text)
    if zone and zone[1][0] in "+-" and unix_seconds(text[: zone.start()] + zone[1]) != -math.inf:
        yield datetime.fromisoformat(text[: zone.start()] + zone[1])
    for form in _OTHER_FORMS:
        try:
            bare = datetime.strptime(text[: zone.start()] if zone else text, form)
            offset = datetime.strptime(zone[1], "%z").tzinfo if zone and zone[1][0] in "+-" else UTC
            yield bare.replace(tzinfo=offset)
        except ValueError:
            continue


def clock_time(time: datetime) -> str:
    return time.astimezone().strftime("%H:%M:%S")


def seconds(length: float) -> float:
    """Round a duration in seconds to the microsecond."""
    return round(length, 6)
