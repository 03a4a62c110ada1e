"""Threats to the validity of figures: unusual answers and users, lost attempts, and misread pages."""
