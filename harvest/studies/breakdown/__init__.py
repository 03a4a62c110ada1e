"""Detection of breakdowns, compared with what people annotated."""
