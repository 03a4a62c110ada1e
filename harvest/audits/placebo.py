"""The audit of a placebo: the same drivers play a few of the topics against a server with known answers."""

from dataclasses import replace

from harvest.audits.audit import Audit
from harvest.parrot.placebo import DRIVERS
from topics.topic import TopicSet

# The largest number of a system's trials in its placebo; at least one is played.
SHARE = 0.05

# Options that a placebo copies from its system: they define how it is read, not what it is.
_KEPT_OPTIONS = ("stream", "timeout")


def check_placebo(audit: Audit) -> None:
    """Raise InputError if a placebo is requested but no system uses a driver that can read a placebo."""
    if audit.placebo and not any(system.driver in DRIVERS for system in audit.systems):
        raise audit.document.error(
            ("placebo",),
            "no system of this audit has a driver that can read a placebo",
            allowed=f"systems of the drivers {' and '.join(DRIVERS)}",
            advice="remove `placebo`",
            key=True,
        )


def placebo_audit(audit: Audit, url: str) -> Audit:
    """Return the audit to play against the placebo at `url`, for the systems whose drivers can read a placebo."""
    systems = []
    for system in audit.systems:
        if system.driver in DRIVERS:
            kept = {key: value for key, value in system.options.items() if key in _KEPT_OPTIONS}
            api = {"base_url": f"{url}/v1", "model": "placebo", **kept}
            options = api if system.driver == "openai" else {"url": f"{url}/"}
            limits = replace(system.limits, spacing=0.0, attempts=1)
            systems.append(replace(system, options=options, session="fresh", limits=limits))
    planned = sum(map(audit.trials_with, audit.topics.topics)) * max(1, len(audit.played) // len(audit.systems))
    budget = max(1, int(planned * SHARE))
    every = audit.topics.topics
    chosen = every[:: max(1, -(-len(every) // budget))][:budget]
    made = replace(
        audit,
        name=f"{audit.name} (placebo)",
        topics=TopicSet(audit.topics.name, chosen, audit.topics.attributes),
        systems=tuple(systems),
        trials=max(1, budget // len(chosen)),
        trials_of={},
        gold=None,
        gold_source="",
        groups=(),
        arms=(),
        thresholds=(),
        caps=None,
        drivers={},
    )
    for system in systems:
        made.drivers[system.name] = made.build(system)
    return made
