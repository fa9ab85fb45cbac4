"""A project: the datasets, the store and the alerts of one `headgate.yml`."""

from headgate.values.errors import MisuseError
from headgate.values.extras import import_extra

_installed = import_extra("pydantic", "a project needs pydantic.", "cli").VERSION
if _installed.startswith("1."):
    raise MisuseError(f"a project needs pydantic 2; {_installed} is installed.", hint='pip install "headgate[cli]"')
