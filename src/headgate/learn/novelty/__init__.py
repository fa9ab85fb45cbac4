"""Score a batch as a whole by its distance from the most similar runs (Redyuk et al., EDBT 2021)."""
