"""Commands for live chat pages and for the copies of pages in runs."""
