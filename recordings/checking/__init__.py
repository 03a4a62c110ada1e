"""Check whether a run is complete and unchanged."""
