"""The words everything speaks: state, key, outcome, predicate, expectation, verdict, and how they are stored."""
