"""Sources of answers: who is shown, how concentrated, how alike, and what is new."""
