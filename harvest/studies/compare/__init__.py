"""Systems compared: differences, families of tests, chart and document."""
