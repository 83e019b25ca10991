"""All commands of `ism` except serve, api and worker. `ism_cli.main` imports each module when its command is called."""

__all__ = ["fit", "keys", "remote"]
