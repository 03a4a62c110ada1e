"""Whether a run is whole, and whether anything in it was changed."""
