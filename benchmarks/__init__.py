"""Measurements of speed, of the settings chosen from the data, of the service, and the paper's experiments."""
