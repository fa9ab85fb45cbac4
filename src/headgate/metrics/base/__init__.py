"""What metrics are made of: the base classes, the registry, and the views of a batch that folds share."""
