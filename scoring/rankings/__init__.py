"""Ranked lists: a strict reader of NTCIREVAL's file formats, and the figures of the lists."""
