"""Rules that score the items of criteria that a rule can judge; each rule states its limits."""
