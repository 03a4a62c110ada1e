"""Benchmarks that print figures beside their bounds. Commands that they start keep what Python compiles, as on the
machines of users, where a start compiles nothing."""

import os

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
