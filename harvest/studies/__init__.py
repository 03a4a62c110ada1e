"""What is made of recorded runs: scores and their bounds, groups beside groups, findings of probes, fitted users."""
