"""One audit spread over the workers of a Dask cluster: who plays what, at one pace, and what becomes of it."""
