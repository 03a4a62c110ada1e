"""Systems compared over the topics that all of them were asked."""
