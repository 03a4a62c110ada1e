"""What machines are told of an audit: one list of verdicts, and each form that carries it."""
