"""How results are drawn: as text, in a terminal, in a notebook."""
