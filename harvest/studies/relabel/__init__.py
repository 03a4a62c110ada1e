"""Decisions about recorded answers, made again by another protocol, by today's rules, or after reading again."""
