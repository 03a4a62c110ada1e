"""Notices of an audit for machines: one list of verdicts, and its output formats."""
