"""Clusters of topics: clusters named in a topic file, and groups of nearly equal requests.

Ten topics that ask two questions in five wordings each are really two topics. An interval that counts them as ten
covers only .6 to .8 of a nominal .95. A topic may therefore name its `cluster`, and intervals then use clusters as
their units. Harvest cannot know which topics get similar answers, but it can report nearly equal requests.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import TypeVar

from topics.counting import pluralize
from topics.late_pattern import lazy_pattern
from topics.topic import Topic, TopicSet

_Item = TypeVar("_Item")
# A word, or a character of a script that is written without spaces.
_WORD = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|(?:(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])\w)+")

# The smallest share of words, without the frame, that nearly equal requests have in common.
_SHARED_SHARE = 0.6

# The smallest number of common words: requests of one or two words are more often about different things.
_FEWEST_SHARED = 3

_FEW = 12  # topics with a word: comparing all of them is quicker than looking for further common words
_SHORT = 12  # words: of more, the threes of rare words become many

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
    texts = ("\n".join((topic.request, *topic.turns, *topic.fields.values())) for topic in topics)
    known: dict[str, str] = {}  # a word that many topics have is kept once
    said = [frozenset(known.setdefault(word, word) for word in _WORD.findall(text.casefold())) for text in texts]
    kinds: defaultdict[str, list[int]] = defaultdict(list)
    for at, topic in enumerate(topics):
        kinds[topic.type.name].append(at)
    root: dict[int, int] = {}
    for members in kinds.values():
        first: dict[frozenset[str], int] = {}
        same = [(first.setdefault(said[at], at), at) for at in members if said[at]]
        # Topics of one cluster are not joined, so of those with the same words one of each cluster is compared.
        distinct = {(said[at], topics[at].cluster): at for at in reversed(members)}
        often = Counter(word for at in members for word in said[at])
        framed = {word for word, count in often.items() if 2 * count > len(members)}
        ranked = {
            at: sorted(words - framed, key=lambda word: (often[word], word)) for (words, _), at in distinct.items()
        }
        for one, other in chain(same, _pairs_with_one_more_word(first), _pairs_with_shared_words(ranked)):
            if numbers[one] != numbers[other]:
                _join_roots(root, one, other)
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for at in sorted(root):
        groups[_find_root(root, at)].append(topics[at].id)
    return [tuple(group) for group in groups.values()]


def nearly_same_note(groups: Sequence[Sequence[str]]) -> str:
    """Return a note on the groups of `nearly_equal_topics`, or ""."""
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


def _pairs_with_one_more_word(first: Mapping[frozenset[str], int]) -> Iterator[tuple[int, int]]:
    # Words by the sum of their hashes: a set for each word left out would take most of the time.
    by_sum = {sum(map(hash, words)): (at, words) for words, at in first.items()}
    for whole, (at, words) in by_sum.items():
        for word in words:
            fewer = by_sum.get(whole - hash(word))
            if fewer is not None and fewer[1] == words - {word}:
                yield fewer[0], at


def _pairs_with_shared_words(ranked: Mapping[int, Sequence[str]]) -> Iterator[tuple[int, int]]:
    """Yield pairs of topics that share enough of their words, which are without the frame, the rarest first.

    If n words have to share s, the rarest shared word is among the n - s + 1 rarest of either topic, and the next two
    are among the n - s + 3 rarest. So only topics with three such words in common are compared (J. Wang, G. Li and J.
    Feng, SIGMOD 2012); of long requests, whose threes are many, those with one such word (S. Chaudhuri, V. Ganti and R.
    Kaushik, ICDE 2006)."""
    by_word: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for at, words in ranked.items():
        for place, word in enumerate(words[: _spare_words(words) + 1]):
            by_word[word].append((at, place))
    for found in by_word.values():
        with_words: dict[tuple[str, str], list[int]] = {}
        several: list[int] = []  # topics that are compared with all others that have the word
        for number, (at, place) in enumerate(found):
            words, own = ranked[at], frozenset(ranked[at])
            if len(found) <= _FEW or len(words) > _SHORT:
                near = {other for other, _ in found[:number]}
                several.append(at)
            else:
                near = {*several}
                for key in combinations(words[place + 1 : _spare_words(words) + 3], 2):
                    known = with_words.setdefault(key, [])
                    near.update(known)
                    known.append(at)
            for other in near:
                shared = len(own.intersection(ranked[other]))
                if shared >= _FEWEST_SHARED and shared >= _SHARED_SHARE * (len(own) + len(ranked[other]) - shared):
                    yield other, at


def _spare_words(words: Sequence[str]) -> int:
    """Return how many of a topic's words another one may lack that shares enough of them."""
    return len(words) - max(_FEWEST_SHARED, int(_SHARED_SHARE * len(words)))


def _find_root(root: dict[_Item, _Item], one: _Item) -> _Item:
    while root.setdefault(one, one) != one:
        root[one] = root[root[one]]
        one = root[one]
    return one


def _join_roots(root: dict[_Item, _Item], one: _Item, other: _Item) -> None:
    root[_find_root(root, one)] = _find_root(root, other)
