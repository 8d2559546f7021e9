"""Rules on rendered objects: Pod Security levels, pinned images, registries, namespaces.

A Helm release shows Pulumi only its values; what comes of them is looked at here, before anything is
installed: `python -m policy build/charts`.
"""
