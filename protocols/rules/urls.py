"""`urls`: the answer gives URLs of a kind."""

from collections.abc import Container, Iterator
from typing import ClassVar

from pydantic import Field, field_validator

from protocols.route import Evidence
from protocols.rules.answer_rule import AnswerRule
from protocols.rules.mentions import ANY, ASKED, Named, kind_trouble, looked_at, named_urls
from protocols.rules.rule import Sight, Verdict, absence, limit_evidence, span
from topics.kinds import KINDS
from topics.topic import Topic


def known_kind(name: str) -> str:
    """Return `name` if it is `asked`, `any` or a shipped kind of URL. Raises ValueError with the list otherwise."""
    if name not in (ASKED, ANY, *KINDS):
        raise ValueError(f"unknown kind of URL; allowed: {', '.join((ASKED, ANY, *sorted(KINDS)))}")
    return name


class Urls(AnswerRule):
    """Holds if the answer names at least `at_least` different entities by a URL of the kind.

    kind: `asked` (the kind of the topic's type: right host and right path), `any`, or a shipped kind such as
    `imdb-title`. Entities are compared by canonical identity, so a mobile host or a tracking parameter makes no
    difference. Evidence: each URL, the repeated ones marked. Only the form of a URL is judged, never whether it leads
    anywhere.
    """

    version: ClassVar[str] = "urls/1"
    needs: ClassVar[frozenset[str]] = frozenset({"links"})

    kind: str = ASKED
    at_least: int = Field(default=1, ge=1, le=10_000)

    _known = field_validator("kind")(known_kind)

    def judge(self, sight: Sight) -> Verdict:
        found = named_urls(sight.answer, self.kind, sight.topic)
        distinct = len({item.key for item in found})
        holds = distinct >= self.at_least
        placed = {source.href for source in sight.answer.sources if source.start >= 0}
        pieces = limit_evidence(self._url_evidence(sight.answer.text, found, placed), len(found))
        if not holds:
            what = f"at least {self.at_least} URL(s) of the kind {self._kind_name(sight.topic)}"
            pieces += (absence(what, f"{distinct} different ones found{looked_at(sight.answer)}"),)
        return Verdict(holds, pieces)

    def unfit(self, topic: Topic) -> str | None:
        return kind_trouble(self.kind, topic)

    def _kind_name(self, topic: Topic) -> str:
        return topic.type.url.name if self.kind == ASKED and topic.type.url else self.kind

    def _url_evidence(self, text: str, found: tuple[Named, ...], placed: Container[str]) -> Iterator[Evidence]:
        seen: set[str] = set()
        for item in found:
            note = f"again {item.key}" if item.key in seen else item.key
            seen.add(item.key)
            if item.start < 0:
                yield absence(item.href, f"{note}, a link outside the text")
            elif item.bare:
                yield span(text, item.start, item.end, note)
            else:
                behind = "the source of these words" if item.href in placed else "behind this anchor"
                yield span(text, item.start, item.end, f"{note}, {behind}")
