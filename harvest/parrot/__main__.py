"""`python -m harvest.parrot`: an example, the chains of the shipped profiles, and what is true of them."""

from __future__ import annotations

import sys

from harvest.parrot.catalogue import load_catalogue
from harvest.parrot.parrot import Parrot
from harvest.parrot.profiles import PROFILES
from harvest.parrot.tables import chain_table, demo_table, example, truth_table
from protocols.library import load_protocol
from simulators.scripted import ScriptedUser
from topics.library import load_topics


def main() -> None:
    topics, protocol = load_topics("fairweb-45"), load_protocol("fairweb-two-round")
    catalogue = load_catalogue("parrot", topics)
    pages = (
        example(Parrot(catalogue, PROFILES["format-breaking"]), ScriptedUser(protocol), topics["M002"]),
        chain_table(),
        truth_table(protocol, topics.topics, catalogue),
        demo_table(),
    )
    sys.stdout.write("\n".join(pages))


if __name__ == "__main__":
    main()
