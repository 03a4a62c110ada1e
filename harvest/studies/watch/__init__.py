"""Re-audits: the blessed baseline, what changed since, and the history of looks."""
