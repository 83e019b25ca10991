"""Helpers of several test folders: an HTTP client, a scripted service, a Redis that fails on demand, table reading."""
