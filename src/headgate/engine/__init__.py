"""How batches reach folds: what to compute (plan), one scan of it (scan), the engines that feed it (local, spark)."""
