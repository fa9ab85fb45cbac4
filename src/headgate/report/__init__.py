"""HTML pages of a batch, of a dataset and of all datasets, each a single self-contained file."""

from headgate.values.extras import import_extra

import_extra("jinja2", "a report needs Jinja2.", "cli")
