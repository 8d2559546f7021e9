"""After the installation: drift from it, recovery from killed runs (healing), taking it away (destroy)."""
