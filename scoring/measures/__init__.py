"""The measures, one file each, with definition, source, range, and value if nothing can be measured."""
