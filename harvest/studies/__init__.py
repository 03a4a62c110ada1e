"""Studies of recorded runs: scores and bounds, comparisons of systems and groups, findings of probes, fitted users."""
