"""Scripts that write data files of the package: each is run by hand, and says which file it writes."""
