"""Where verdicts meet other systems: each behind its own extra."""
