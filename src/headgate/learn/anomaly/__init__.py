"""Detects anomalies in a series of metric values: each detector gives the band of the next value from the past ones."""
