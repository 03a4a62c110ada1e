"""Audit files, which define the topics, systems and groups of users to play."""
