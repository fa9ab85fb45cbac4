"""States that more than one metric reads. A state that only one metric reads lives in that metric's file."""
