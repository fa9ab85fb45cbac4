"""A project: the datasets, the store and the alerts that one `headgate.yml` names, ready to be judged."""
