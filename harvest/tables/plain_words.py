"""Plain words for terms that tables use, printed below the tables that use them."""

import re
from collections.abc import Iterable, Iterator

_WORDS: tuple[tuple[str, str], ...] = (
    (r"\barms?\b", "arm: one of the ways in which the same needs are put to a system, such as a wording or a language"),
    (r"\blevels?\b(?= of [a-z]+ within)", "level: one of the values of a factor, such as one language"),
    ("Gaffke-type", "Gaffke-type: assumes nothing of the values but the ends between which they lie, so no bell curve"),
    ("randomisation test", "randomisation test: how often would swapping the systems' answers show as much?"),
    ("Holm", "Holm: of many tests, each p is raised so far that any false finding among them stays unlikely"),
    ("Jaccard", "Jaccard: of all that two answers show, the part that both show"),
    ("RBO", "RBO: how alike two lists are, from 0 to 1, first places counting most (rank-biased overlap)"),
    ("Gini", "Gini: 0 if all are shown equally often, near 1 if few are shown most of the time"),
    ("residual variance", "residual variance: what is left of it without the levels of the systems and of the topics"),
    ("Fieller", "Fieller: an interval of a ratio from one of a difference"),
)


def plain_words(said: Iterable[str]) -> Iterator[str]:
    """Yield an explanation of each term in these texts."""
    whole = "\n".join(said)
    return (words for term, words in _WORDS if re.search(term, whole))
