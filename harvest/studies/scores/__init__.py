"""The score card of runs: computation, tables, and the file `scores.json`."""
