"""Attribute a change of figures to the system, the users, the rules, the reading of pages or the topics."""
