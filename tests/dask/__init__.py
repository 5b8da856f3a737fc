"""Tests of `wengert.dask`: on schedulers of this process, and on a cluster of three processes."""
