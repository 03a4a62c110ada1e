"""Runs in an object store, where machines that share no folder find each other's recordings."""
