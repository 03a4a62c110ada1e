"""One conversation on a live page: opened, typed into, waited for, read; probed, and read again."""
