"""The score card of runs: its computation, its tables and its file `scores.json`."""
