"""Clusters of topics: clusters named in a topic file, and groups of nearly equal requests.

Ten topics that ask two questions in five wordings each are really two topics. An interval that counts them as ten
covers only .6 to .8 of a nominal .95. A topic may therefore name its `cluster`, and intervals then use clusters as
their units. Harvest cannot know which topics get similar answers, but it can report nearly equal requests.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from topics.counting import pluralize
from topics.topic import Topic, TopicSet

_Item = TypeVar("_Item")
# A word, or a character of a script that is written without spaces.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|(?:(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])\w)+")

# The smallest share of words, without the frame, that nearly equal requests have in common.
_SHARED_SHARE = 0.6

# The smallest number of common words: requests of one or two words are more often about different things.
_FEWEST_SHARED = 3

_MOST_NAMED = 3  # in a message


def clusters_of(topics: Iterable[Topic]) -> tuple[int, ...]:
    """Return the cluster number of each topic, from 0 in order. A topic without a cluster gets a separate number."""
    numbers: dict[tuple[str, str], int] = {}
    return tuple(
        numbers.setdefault(("cluster", topic.cluster) if topic.cluster else ("topic", topic.id), len(numbers))
        for topic in topics
    )


def joined_clusters(sets: Iterable[TopicSet]) -> dict[str, str]:
    """Return, by topic id, the cluster of each topic that has a cluster in any of `sets`. Two topics share a joined
    cluster if any set puts them in one cluster, directly or through further topics. A joined cluster is named after
    the first of its clusters in sorted order, so that the order of the sets does not matter."""
    root: dict[tuple[str, str], tuple[str, str]] = {}
    for topics in sets:
        for topic in topics.topics:
            if topic.cluster:
                _join_roots(root, ("cluster", topic.cluster), ("topic", topic.id))
    names: dict[tuple[str, str], str] = {}
    for kind, name in root:
        if kind == "cluster":
            top = _find_root(root, (kind, name))
            names[top] = min(name, names.get(top, name))
    return {name: names[_find_root(root, (kind, name))] for kind, name in root if kind == "topic"}


def assign_clusters(topics: Iterable[Topic], clusters: Mapping[str, str]) -> tuple[Topic, ...]:
    """Return the topics with their clusters, as mapped by id in `clusters`. A topic that is not mapped gets None."""
    return tuple(
        topic if topic.cluster == clusters.get(topic.id) else replace(topic, cluster=clusters.get(topic.id))
        for topic in topics
    )


def nearly_equal_topics(topics: Sequence[Topic]) -> list[tuple[str, ...]]:
    """Return the ids of topics with nearly equal requests but no common cluster, in groups and in topic order.

    Topics of one type are compared by the words of request, turns and fields. Each word counts once, and order and
    case are ignored. Words that more than half of the type's topics have are their common frame ("Please list up
    movies …"). Two requests are nearly equal if

    * one request has all words of the other and at most one more, or * without the frame, they share at least three
    words, and at least three in five of the words that either has.

    If two topics are both nearly equal to a third, all three are in one group. Time is nearly linear in the number of
    topics.
    """
    numbers = clusters_of(topics)
    texts = ["\n".join((topic.request, *topic.turns, *topic.fields.values())) for topic in topics]
    said = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    kinds: defaultdict[str, list[int]] = defaultdict(list)
    for at, topic in enumerate(topics):
        kinds[topic.type.name].append(at)
    root: dict[int, int] = {}
    for members in kinds.values():
        for one, other in (*_pairs_with_one_more_word(members, said), *_pairs_with_shared_words(members, said)):
            if numbers[one] != numbers[other]:
                _join_roots(root, one, other)
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for at in sorted(root):
        groups[_find_root(root, at)].append(topics[at].id)
    return [tuple(group) for group in groups.values()]


def nearly_same_note(topics: Sequence[Topic]) -> str:
    """Return a note on topics with nearly equal requests but no common cluster, or ""."""
    groups = nearly_equal_topics(topics)
    if not groups:
        return ""
    shown = "; ".join(
        ", ".join(group[:4]) + (f" and {len(group) - 4} more" if len(group) > 4 else "")
        for group in groups[:_MOST_NAMED]
    )
    more = f"; and {pluralize(len(groups) - _MOST_NAMED, 'more group')}" if len(groups) > _MOST_NAMED else ""
    return (
        f"Topics that ask for nearly the same: {shown}{more}. They count as independent, and intervals for topics like "
        "these are then too narrow: give them a common `cluster` in the topic file."
    )


def _pairs_with_one_more_word(members: Sequence[int], said: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    first: dict[frozenset[str], int] = {}
    for at in members:
        if said[at]:
            known = first.setdefault(said[at], at)
            if known != at:
                yield known, at
    for words, at in list(first.items()):
        for word in words:
            fewer = first.get(words - {word})
            if fewer is not None:
                yield fewer, at


def _pairs_with_shared_words(members: Sequence[int], said: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Yield pairs of topics that share enough of their words outside the frame. The words of such a pair include a
    common word that is among the few rarest words of each topic. So only topics with such a common word are compared
    (prefix filtering; S. Chaudhuri, V. Ganti and R. Kaushik, ICDE 2006)."""
    often = Counter(word for at in members for word in said[at])
    own = {at: {word for word in said[at] if 2 * often[word] <= len(members)} for at in members}
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    for at, words in own.items():
        rarest = sorted(words, key=lambda word: (often[word], word))
        near: dict[int, None] = {}
        for word in rarest[: len(words) - int(_SHARED_SHARE * len(words)) + 1]:
            near.update(dict.fromkeys(by_word[word]))
            by_word[word].append(at)
        for other in near:
            shared = len(words & own[other])
            if shared >= _FEWEST_SHARED and shared >= _SHARED_SHARE * len(words | own[other]):
                yield other, at


def _find_root(root: dict[_Item, _Item], one: _Item) -> _Item:
    while root.setdefault(one, one) != one:
        root[one] = root[root[one]]
        one = root[one]
    return one


def _join_roots(root: dict[_Item, _Item], one: _Item, other: _Item) -> None:
    root[_find_root(root, one)] = _find_root(root, other)
