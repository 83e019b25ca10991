"""The test suite: one folder for each package."""
