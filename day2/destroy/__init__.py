"""Taking an installation away: what the kit made, and nothing else."""
