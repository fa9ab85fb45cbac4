"""The name classifier for unique columns: the schemas it learns from, how it is trained and how good it is."""
