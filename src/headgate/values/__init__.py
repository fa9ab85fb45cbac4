"""The data types that all rooms share: state, key, outcome, predicate, expectation, verdict, and their encoding."""
