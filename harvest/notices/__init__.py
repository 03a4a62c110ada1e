"""Reports of an audit's verdicts to other programs: one list of verdicts, and its output formats."""
