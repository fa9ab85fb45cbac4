"""`headgate doctor`: checks of the machine, the store and the project."""
