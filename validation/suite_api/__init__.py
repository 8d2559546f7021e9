"""Read-only client of VCF Operations' suite API; knows nothing of clusters or checks."""
