"""Prometheus: the operator from its bundle or a chart, the instance, and what it scrapes."""
