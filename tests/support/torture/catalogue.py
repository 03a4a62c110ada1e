"""All worlds: importing this module registers them. A module of new worlds is added here."""

from tests.support.torture import bounded, dependent, ends, heavy, judged, lost, turns, uneven, watched
from tests.support.torture.world import WORLDS, World

MODULES = (bounded, heavy, dependent, lost, turns, watched, judged, ends, uneven)


def chosen(words: list[str]) -> list[World]:
    """The worlds whose name, group or kind has one of the words in it, in any case; all without words."""
    return [
        world
        for world in WORLDS.values()
        if not words or any(word.lower() in f"{world.name} | {world.group} | {world.kind}".lower() for word in words)
    ]
