"""What the components of the full profile are made from: values, Secrets, and waiting for the API."""
