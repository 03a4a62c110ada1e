"""Rules that score items of a criterion if a rule can do so honestly; each states its limits."""
