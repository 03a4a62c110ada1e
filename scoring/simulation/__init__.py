"""Statistics of users: what real ones do, what simulated ones do, and how far apart the two are."""
