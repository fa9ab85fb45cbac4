"""HTML pages of a batch, of a dataset and of all datasets, each a single self-contained file."""
