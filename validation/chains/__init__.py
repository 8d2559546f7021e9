"""Tests beside each other: chains of tests whose GPUs, queues and numbers cannot touch."""
