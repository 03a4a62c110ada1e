"""Checks that a run is complete and unchanged."""
