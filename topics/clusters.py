"""Clusters of topics: clusters named in a topic file, and groups of nearly equal requests.

Ten topics that ask two questions in five wordings each are really two topics. An interval that counts them as ten
covers only .6 to .8 of a nominal .95. A topic may therefore name its `cluster`, and intervals then use clusters as
their units. Harvest cannot know which topics get similar answers, but it can report nearly equal requests.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, combinations
from sys import intern
from typing import TypeVar

from topics.counting import pluralize
from topics.late_pattern import lazy_pattern
from topics.topic import Topic, TopicSet

_Item = TypeVar("_Item")
# A word, or a character of a script that is written without spaces.
_WORD = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|(?:(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])\w)+")
# The same in text of ASCII characters.
_ASCII_WORD = lazy_pattern(r"\w+")

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
    # A word that many topics have is kept once.
    said = [
        frozenset(map(intern, (_ASCII_WORD if text.isascii() else _WORD).findall(text.casefold()))) for text in texts
    ]
    kinds: defaultdict[str, list[int]] = defaultdict(list)
    for at, topic in enumerate(topics):
        kinds[topic.type.name].append(at)
    root: dict[int, int] = {}
    for members in kinds.values():
        first: dict[frozenset[str], int] = {}
        same = [(first.setdefault(said[at], at), at) for at in members if said[at]]
        # Topics of one cluster are not joined, so of those with the same words one of each cluster is compared.
        distinct: dict[tuple[frozenset[str], str | None], int] = {}
        for at in members:
            distinct.setdefault((said[at], topics[at].cluster), at)
        often = Counter(chain.from_iterable(said[at] for at in members))
        framed = {word for word, count in often.items() if 2 * count > len(members)}
        rank = {word: place for place, word in enumerate(sorted(often, key=lambda word: (often[word], word)))}
        ranked = {
            at: sorted(map(rank.__getitem__, words - framed if framed else words))
            for (words, _), at in distinct.items()
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


def _pairs_with_shared_words(ranked: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield pairs of topics that share enough of their words, which are numbers, without the frame, the rarest first.

    If a topic of n words has to share s of them with another, the rarest shared word is among its n - s + 1 rarest, and
    the next two are among the n - s + 3 rarest. So only topics with three such words in common are compared (J. Wang,
    G. Li and J. Feng, SIGMOD 2012); of long requests, whose threes are many, those with one such word (S. Chaudhuri, V.
    Ganti and R. Kaushik, ICDE 2006). The numbers of words decide how many have to be shared, so each topic looks for
    topics of its own length and for shorter ones, a length at a time."""
    lengths = sorted({len(words) for words in ranked.values()})
    needed = {
        whole: [(length, least) for length in lengths if length <= whole and (least := _least_shared(whole, length))]
        for whole in lengths
    }
    fewest = {whole: min((least for _, least in shorter), default=whole + 1) for whole, shorter in needed.items()}
    by_word: defaultdict[int, list[int]] = defaultdict(list)
    for at in sorted(ranked, key=lambda at: len(ranked[at])):
        words = ranked[at]
        for word in words[: len(words) - fewest[len(words)] + 1]:
            by_word[word].append(at)
    for word, found in by_word.items():
        with_words: defaultdict[int, dict[tuple[int, int], list[int]]] = defaultdict(dict)  # by length
        for number, at in enumerate(found):
            words = ranked[at]
            whole = len(words)
            near: set[int] = set()
            if len(found) <= _FEW or whole > _SHORT:
                near.update(found[:number])
            else:
                place = words.index(word)
                for length, least in needed[whole]:
                    known = with_words[length]
                    if length == whole:
                        for key in combinations(words[place + 1 : whole - least + 3], 2):
                            alike = known.setdefault(key, [])
                            near.update(alike)
                            alike.append(at)
                    elif known:
                        for key in combinations(words[place + 1 : whole - least + 3], 2):
                            near.update(known.get(key, ()))
            if near:
                own = frozenset(words)
                for other in near:
                    least = _least_shared(whole, len(ranked[other]))
                    if least and len(own.intersection(ranked[other])) >= least:
                        yield other, at


@cache
def _least_shared(one: int, other: int) -> int:
    """Return how many words nearly equal requests of these numbers of words have to share, or 0 if they are too
    different."""
    enough = (
        shared
        for shared in range(_FEWEST_SHARED, min(one, other) + 1)
        if shared >= _SHARED_SHARE * (one + other - shared)
    )
    return next(enough, 0)


def _find_root(root: dict[_Item, _Item], one: _Item) -> _Item:
    while root.setdefault(one, one) != one:
        root[one] = root[root[one]]
        one = root[one]
    return one


def _join_roots(root: dict[_Item, _Item], one: _Item, other: _Item) -> None:
    root[_find_root(root, one)] = _find_root(root, other)
