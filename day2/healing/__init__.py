"""Putting right what a killed `pulumi up` or `destroy` leaves, with any backend: `make heal ENV=<stack>`."""
