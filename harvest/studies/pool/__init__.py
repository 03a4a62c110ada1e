"""Things for people to judge, pooled over runs, and nuggets in answers."""
