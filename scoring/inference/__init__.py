"""Intervals, p values and verdicts: a design, an estimand, and an interval or the reason why there is none."""
