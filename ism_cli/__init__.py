"""The `ism` command: serving, fitting a table locally, and calling a service."""
