"""Comparison of systems: differences with intervals and tests, tables, a chart and a JSON document."""
