"""Read runs once and compare them with each other, the start of every study."""
