"""Rules that score the items of criteria. Each rule states its limits."""
