"""Distances of states against the distances of the raw values, on consecutive batches of real tables."""
