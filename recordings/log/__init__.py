"""A run's folder: header, journal, chain, inventory, shards, and its one writer."""
