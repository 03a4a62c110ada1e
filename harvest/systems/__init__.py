"""The interface to systems under audit: drivers, their errors, limits, and the delivery of turns."""
