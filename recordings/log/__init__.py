"""A run's folder: header, journal, chain, inventory, shards, and its single writer."""
