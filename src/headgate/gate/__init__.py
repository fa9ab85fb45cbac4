"""One verdict for a batch: checks, measured in one scan, judged by the one judge."""
