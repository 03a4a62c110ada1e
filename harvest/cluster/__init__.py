"""Audits spread over the workers of a Dask cluster, at one common pace."""
