"""Sources of wordings that no user policy can make itself: models behind endpoints, and people at a keyboard."""
