"""Commands that watch a system: a baseline, re-audits, their history and their schedule."""
