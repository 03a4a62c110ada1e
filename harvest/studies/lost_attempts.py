"""What a system lost in a measure: trials without a valid attempt, and what they could have given."""

from collections import Counter
from collections.abc import Mapping, Sequence

from harvest.studies.scorecard import Material
from harvest.studies.trial_values import SHARES, Key, Values
from scoring.inference.losses import Lost
from scoring.measure import Measure

__all__ = ["lost_attempts"]


def lost_attempts(
    key: Key, measure: Measure, system: str, values: Mapping[str, Values], material: Material, topics: Sequence[str]
) -> Lost:
    """Of the system in one measure, over `topics`.

    A lost trial could have given any value of the measure; if the measure has no end near its values, any from the
    smallest to the largest that a conversation of any of the systems (those of `values`) has. Of a share it could have
    been useless or useful; of %recovery it could have failed first and then have recovered, or not.
    """
    declared = measure.declaration
    known = {topic for own in values.values() for topic, _ in own.get(key, {})}  # others are not asked for this turn
    gone = Counter(one.topic for one in material.invalid if one.system == system)
    low, high = (0.0, 1.0) if declared in SHARES else declared.range
    if not declared.has_top:
        seen = [
            above / below
            for own in values.values()
            for above, below in own.get(key, {}).values()
            if below > 0 and above == above
        ]
        low, high = (min(seen), max(seen)) if seen else (low, low)
    return Lost({topic: gone[topic] for topic in topics if topic in known and gone[topic]}, (low, 1.0), (high, 1.0))
