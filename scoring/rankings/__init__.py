"""Ranked lists beside conversations: NTCIREVAL's file formats, read strictly, and the figures of the lists."""
