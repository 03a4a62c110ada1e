"""Rules that score items of a criterion where a rule honestly can; each states what it cannot see."""
