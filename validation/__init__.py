"""Proof of an installation: observe a cluster, compare with what the settings promise, report."""
