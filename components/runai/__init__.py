"""REST client of the Run:ai control plane; knows nothing of Pulumi."""
