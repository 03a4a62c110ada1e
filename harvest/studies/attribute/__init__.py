"""What a change of figures comes from: the system, the rules, the reader or the users."""
