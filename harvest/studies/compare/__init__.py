"""Compare systems: differences, families of tests, chart and document."""
