"""Statistics of users: the behaviour of real and of simulated users, and the distance between the two."""
