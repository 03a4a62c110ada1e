"""Conversation trees of runs: merging, branch statistics, scores and printed text."""
