"""How fast one scan turns a batch into states, against the plain scan of the same table."""
