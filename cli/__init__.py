"""The `ism` command."""
