"""Driver `runai`: workloads of the tests over the control plane's REST API."""
