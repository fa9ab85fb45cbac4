"""Constraints beyond a metric with a threshold, one file for each subject. Each registers itself."""
