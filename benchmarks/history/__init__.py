"""Programs learned from history, against the paper's form and other detectors, on every real feed."""
