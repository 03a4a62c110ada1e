"""What threatens the validity of figures: odd answers, odd users, losses in reading, users that left."""
