"""Users learnt from people, populations of users, and what another user would have met."""
