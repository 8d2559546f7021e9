"""Closed networks: what a stack pulls, as a list, and the copying of that list into a registry of one's own.

`python -m mirror list …` and `python -m mirror copy …`; `make mirror-list` and `make mirror` call them.
"""
