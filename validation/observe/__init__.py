"""What is seen, read from the API only. Never reads an expectation."""
