"""Agents on servers of the protocols' own makers, each run by the Python of an environment of its own.

What they say follows from the number of the turn and the user's words, so that a record can be compared with it.
"""
