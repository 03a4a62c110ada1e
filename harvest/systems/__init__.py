"""The seam to systems under audit: what a driver is, its errors, its limits, and delivery at its pace."""
