"""Sources of user turns that no simulated user can write itself: models behind endpoints, and people at a keyboard."""
