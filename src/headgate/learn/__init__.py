"""Ways to learn expectations: from a profile, a series, a history, a corpus of columns or the batch as a whole."""
