"""Statistics of users: the behaviour of real ones, of simulated ones, and the distance between the two."""
