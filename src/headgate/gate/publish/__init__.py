"""Moves batches to where readers find them, or into quarantine."""
