"""Ranked lists: NTCIREVAL's file formats, read strictly, and the figures of the lists."""
