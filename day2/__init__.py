"""After the installation: what differs from it (drift), and taking it away (destroy)."""
