"""HTTP: routes, limits, pictures."""
