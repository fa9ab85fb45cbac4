"""The history of datasets: what a store must do, and the stores in memory, in files, on object stores and in SQL."""
