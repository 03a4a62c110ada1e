"""The folder of a run: header, journal, chain, inventory, shards, and its single writer."""
