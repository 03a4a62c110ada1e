"""What other programs wrote, and what they read."""
