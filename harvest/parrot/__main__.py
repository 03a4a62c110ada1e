"""`python -m harvest.parrot`: what the shipped profiles do, and what is true of them under the two-round protocol."""

from __future__ import annotations

import sys

from harvest.parrot.catalogue import load_catalogue
from harvest.parrot.tables import chain_table, truth_table
from protocols.library import load_protocol
from topics.library import load_topics


def main() -> None:
    topics = load_topics("fairweb-45")
    table = truth_table(load_protocol("fairweb-two-round"), topics.topics, load_catalogue("parrot", topics))
    sys.stdout.write(f"{chain_table()}\n{table}")


if __name__ == "__main__":
    main()
