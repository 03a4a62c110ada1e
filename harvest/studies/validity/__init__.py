"""Threats to the validity of figures: odd answers, odd users, misreadings, and users who left."""
