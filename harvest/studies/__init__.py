"""Studies of recorded runs: scores, comparisons of systems and user groups, probe findings, fitted users and plans."""
