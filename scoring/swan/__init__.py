"""SWAN: nuggets by transparent rules, schemas of criteria, weightings, and weighted averages ([SWAN] Eq. 1-3)."""
