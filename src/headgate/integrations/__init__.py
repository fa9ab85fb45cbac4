"""Connections to other systems, each behind its own extra."""
