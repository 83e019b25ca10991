"""Development tools that tests, drills and benchmarks share. None of them is installed with the package."""
