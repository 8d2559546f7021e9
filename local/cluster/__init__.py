"""The kind cluster: its configuration, creation, network and removal."""
