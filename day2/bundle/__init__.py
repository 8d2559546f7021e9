"""The support bundle: what somebody needs who helps with an installation, without its secrets."""
