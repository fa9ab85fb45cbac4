"""The words everything speaks: states, metrics' keys, outcomes, predicates, expectations, verdicts, and how they are stored."""
