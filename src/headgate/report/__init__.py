"""What people look at: pages of a batch, of a dataset and of all datasets, each one file that needs nothing else."""
