"""Users with hidden states: people who differ from each other, and who change during a conversation."""
