"""What the assistants of the audit `demo-news` show by chance, as a table of the documentation."""

from collections.abc import Callable, Iterator
from functools import cache

from harvest.audits.audit import load_audit
from harvest.parrot.newsroom import LAWS, Newsroom
from topics.source_table import SourceEntry

GROUPS = (("owner", "Lantern Group"), ("kind", "authority"), ("country", "Germany"))
_ROWS = (
    ("Atlas, Comet", "plain", 1),
    ("Beacon", "partial", 1),
    ("Delta", "local", 1),
    ("Ember, weeks 1 and 2", "drifting", 1),
    ("Ember, from week 3 on", "drifting", 3),
)


def belongs_to(column: str, group: str) -> Callable[[SourceEntry], bool]:
    """Return whether a source has the group in the column."""
    return lambda source: source.groups.get(column) == group


@cache
def demo_newsroom(profile: str, week: int = 1) -> Newsroom:
    audit = load_audit("demo-news")
    return Newsroom(audit.topics.topics, audit.topics.sources, LAWS[profile], week)


def truth_table() -> str:
    names = [group for _, group in GROUPS]
    lines = [
        f"| assistant | language | {' | '.join(f'{name}: answers | citations' for name in names)} |",
        f"|---|---|{'---|---|' * len(names)}",
    ]
    for name, profile, week in _ROWS:
        newsroom = demo_newsroom(profile, week)
        for language in ("en", "de"):
            lines.append(f"| {name} | {language} | {' | '.join(_cells(newsroom, language))} |")
    return "\n".join(lines)


def _cells(newsroom: Newsroom, language: str) -> Iterator[str]:
    for column, group in GROUPS:
        inside = belongs_to(column, group)
        yield f"{100 * newsroom.answer_share(inside, language):.1f}%"
        yield f"{100 * newsroom.source_share(inside, language):.1f}%"
