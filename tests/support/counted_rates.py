"""Whether rates are as they are claimed, counted in studies that are simulated: errors in at most .05 of them, say.

A limit of two standard errors above the claim refuses one true claim in forty, so of forty cells one fails by chance.
Here a claim is refused by an exact binomial test of a stated error, and where the rate lies above the claim without
being refused, more studies are counted: the limit is then lower, and the error, too.
"""

from collections import Counter
from collections.abc import Callable, Mapping

from scipy import stats

ERROR = 0.001
"""The chance that a claim is refused that is just true."""


def count_events(
    claims: Mapping[str, float], events: Callable[[int], Mapping[str, bool]], looks: tuple[int, ...]
) -> tuple[int, Counter[str]]:
    """Count studies until no rate is above its claim, at most the last number of `looks`. Returns the number of studies
    and of events. `events` simulates the study of a number, from 0. Fails if a claim is refused."""
    found: Counter[str] = Counter()
    done = 0
    for look in looks:
        for number in range(done, look):
            found.update(name for name, happened in events(number).items() if happened)
        done = look
        for name, claimed in claims.items():
            p = float(stats.binom.sf(found[name] - 1, look, claimed))
            assert p >= ERROR / len(looks), f"{name}: {found[name]} of {look}, claimed {claimed:g} (p {p:.2g})"
        if all(found[name] <= claimed * look for name, claimed in claims.items()):
            break
    return done, found
