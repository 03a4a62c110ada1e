"""Reports of an audit's verdicts to other programs: a list of verdicts, and its output formats."""
