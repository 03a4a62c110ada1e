"""Find where JSON values of several runs differ, and describe it in words."""

import json
from collections.abc import Iterator, Mapping, Sequence

from recordings.files.json_text import Json
from topics.counting import pluralize

_MOST = 3  # values in a sentence
_LONGEST = 40  # characters of each
_BEFORE = 10  # characters of a long value shown before the place where it differs

# A path such as `options.model`, and the value there by the run's name; None where a run has nothing there.
Change = tuple[str, Mapping[str, Json]]


def changes_between(values: Mapping[str, Json], path: str = "") -> Iterator[Change]:
    """Yield every place where `values`, keyed by run name, differ, as deep as all are objects or lists of equal
    length.

    A null value counts as a missing key.
    """
    each = list(values.values())
    if all(one == each[0] for one in each[1:]):
        return
    objects = [one for one in each if isinstance(one, dict)]
    lists = [one for one in each if isinstance(one, list)]
    inner: dict[str, dict[str, Json]] = {}
    if len(objects) == len(each):
        for key in dict.fromkeys(key for one in objects for key in one):
            inner[str(key)] = {name: one.get(key) for name, one in zip(values, objects)}
    elif len(lists) == len(each) and len({len(one) for one in lists}) == 1:
        for place in range(len(lists[0])):
            inner[str(place)] = {name: one[place] for name, one in zip(values, lists)}
    if not inner:
        yield path, values
    for key, below in inner.items():
        yield from changes_between(below, f"{path}.{key}" if path else key)


def in_words(changes: Sequence[Change]) -> str:
    """Describe the first few changes: `options.model is a in january, b in february; and 2 more differences`."""
    said = [f"{path} is {by_value(by_run)}" for path, by_run in changes[:_MOST]]
    more = len(changes) - _MOST
    return "; ".join(said) + (f"; and {pluralize(more, 'more difference')}" if more > 0 else "")


def by_value(by_run: Mapping[str, Json]) -> str:
    """Describe values by run: `5 in january and march, 3 in february`. Long values are cut to where they begin to
    differ."""
    names: dict[str, list[str]] = {}
    for name, value in by_run.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        names.setdefault("not given" if value is None else " ".join(text.split()), []).append(name)
    texts = list(names)
    start = 0
    if max(map(len, texts)) > _LONGEST:
        alike = next((i for i, letters in enumerate(zip(*texts)) if len(set(letters)) > 1), min(map(len, texts)))
        start = max(0, alike - _BEFORE)
    return ", ".join(f"{_cut(text, start)} in {' and '.join(runs)}" for text, runs in names.items())


def _cut(text: str, start: int) -> str:
    end = start + _LONGEST
    return ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")
