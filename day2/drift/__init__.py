"""What differs between what the kit rendered and what is in the cluster."""
