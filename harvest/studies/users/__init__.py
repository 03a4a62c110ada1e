"""Users fitted to people, populations of users, and estimates for other users."""
