"""Checks evaluated on a batch: one scan, one verdict, down to the rows."""
