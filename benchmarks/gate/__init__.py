"""The gate with all learners on, against each learner alone, on every recurring dataset and its real incidents."""
