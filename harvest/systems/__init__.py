"""The interface to systems under audit: drivers, their errors, load limits, and the delivery of turns."""
