"""Org units and the control plane's database into a folder, and what is missing of them back."""
