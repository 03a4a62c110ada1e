"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadline: machines are noisy, and speed is measured by benchmarks. Where CI is set, the same examples each time: a
# new counterexample is for the people who explore, not for somebody else's change.
settings.register_profile("harvest", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("harvest")
