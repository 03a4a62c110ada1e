"""Groups of users compared within each system."""
