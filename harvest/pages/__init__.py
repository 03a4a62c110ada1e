"""Live pages: found, read and waited for, as a person would."""
