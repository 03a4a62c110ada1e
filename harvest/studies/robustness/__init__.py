"""Effects of arms: changes of a system's settings, wordings, users or factors, each compared with a control."""
