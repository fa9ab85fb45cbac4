"""One score for a batch as a whole: how far it lies from the runs that are most like it (Redyuk et al., EDBT 2021)."""
