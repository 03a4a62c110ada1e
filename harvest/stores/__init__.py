"""Runs in an object store, through which machines without a shared folder exchange recordings."""
