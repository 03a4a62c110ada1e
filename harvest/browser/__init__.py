"""Live pages: what stands on them, where to type, when an answer is finished, and what it says."""
