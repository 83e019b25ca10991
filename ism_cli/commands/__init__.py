"""The commands of `ism` besides those that serve. `ism_cli.main` imports each module when its command is called."""

__all__ = ["fit", "keys", "remote"]
