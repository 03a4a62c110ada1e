"""Users with hidden states: people who differ, and who change in the course of a conversation."""
