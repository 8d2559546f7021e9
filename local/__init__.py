"""The local environment: a kind cluster with fake GPUs, made from packages or upstream images.

Only the standard library is used here, because these modules run before the Python
environment of the kit exists.
"""
