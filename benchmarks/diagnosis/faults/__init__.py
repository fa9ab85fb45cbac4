"""The benchmark's own faults, in plain pyarrow and numpy: none of them uses the library that names faults.

A column fault changes the values of one column, in all rows or in one segment. A table fault changes the whole batch.
`catalog.py` lists all of them, `draw.py` puts them into a batch.
"""
