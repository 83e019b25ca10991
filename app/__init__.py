"""The HTTP service: routes, authentication, limits, the sandbox for heavy work, and the web page."""
