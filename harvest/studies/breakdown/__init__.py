"""Detection of breakdowns, compared with human annotations."""
