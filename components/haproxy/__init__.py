"""HAProxy in front of everything: with a configuration of this kit's, or as its ingress controller."""
