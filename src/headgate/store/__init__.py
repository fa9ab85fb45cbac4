"""The history of datasets: the interface of a store, and stores in memory, in files, on object stores and in SQL."""
