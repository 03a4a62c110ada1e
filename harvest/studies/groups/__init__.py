"""Compare groups of users within each system."""
