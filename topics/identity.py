"""Identities derived from content: hashes over canonical JSON, and seeds.

Hashes and seeds use blake2b, never `hash()`, so that a value has the same identity in every process and on every
machine.
"""

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # numpy takes 0.2 s to import, and most commands draw nothing
    import numpy

# Made once: to make one takes as long as to encode a trial.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys, unescaped characters, no spaces and no NaN: equal values give equal text."""
    return _ENCODER.encode(value)


def content_hash(tag: str, value: object, *, size: int = 16) -> str:
    """Return the hex digest (2·size characters) of `value`. Use a different tag for each kind of value."""
    digest = hashlib.blake2b(digest_size=size, person=tag.encode()[:16])
    # Names and replies may contain halves of surrogate pairs, which strict UTF-8 refuses.
    digest.update(canonical_json(value).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def derived_seed(seed: int, *names: str | int) -> int:
    """Return a 128-bit seed for one purpose. Equal seeds and names give equal streams, whatever else ran. Names are
    separated by their JSON form, so ("a", "bc") and ("ab", "c") differ."""
    digest = hashlib.blake2b(digest_size=16, person=b"harvest-seed")
    digest.update(canonical_json([seed, *names]).encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "big")


def generator(seed: int, *names: str | int) -> "numpy.random.Generator":
    """Return a separate numpy generator for (seed, names), for example (seed, system, topic, trial, purpose)."""
    import numpy

    return numpy.random.Generator(numpy.random.PCG64(derived_seed(seed, *names)))
