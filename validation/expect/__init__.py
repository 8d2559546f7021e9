"""What must be seen, computed from the settings and the live capacity only. Never reads a cluster."""
