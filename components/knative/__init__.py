"""Knative Serving with Kourier: a release's objects made fit for this kit, settings, readiness."""
