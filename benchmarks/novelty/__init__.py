"""Whole batches judged by novelty and by the gate, after the protocol of Redyuk et al. (EDBT 2021)."""
