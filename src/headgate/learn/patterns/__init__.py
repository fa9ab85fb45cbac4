"""From a corpus of columns to the pattern that the next values of one column will follow (Auto-Validate, 2021)."""
