"""KAI Scheduler: one values builder per chart generation, and its custom resources."""
