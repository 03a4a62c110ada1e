"""Users with hidden states, which model people who differ and who change during a conversation."""
