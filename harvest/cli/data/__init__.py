"""Commands that import, export, merge and verify runs."""
