"""A project: the datasets, the store and the alerts of one `headgate.yml`."""
