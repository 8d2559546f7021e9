"""Preflight with little patience, for runs in which what it waits for never comes."""

from __future__ import annotations

# Seconds that the probes and the clean-up get in these runs, which wait for what never comes.
PROBES, CLEANUP, HELD = 12, 20, 4
QUICK = {"preflight_timeout": PROBES, "preflight_cleanup_timeout": CLEANUP}
