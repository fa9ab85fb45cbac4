"""Faults that are recognised, one file each."""
