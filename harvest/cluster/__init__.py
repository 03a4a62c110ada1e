"""Audits spread over the workers of a Dask cluster, at a common pace."""
