"""The sections of `make bench`: time and memory, each beside a limit or a peer in the same run."""
