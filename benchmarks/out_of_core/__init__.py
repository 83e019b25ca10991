"""Tables that exceed the memory: a process of 2 GiB, Dask workers, rows that arrive, and peers on the same files."""
