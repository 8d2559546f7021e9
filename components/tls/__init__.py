"""Wildcard certificates for inference and workspaces: given as files, or made by a private CA of the kit."""
