"""The same inputs for NVIDIA's own installer, for sites that must use it: `make installer-config STACK=…`.

`runai-installer` installs, and does not upgrade; in closed networks it installs no prerequisites.
"""
