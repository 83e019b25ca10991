"""HTTP for both clients: requests with retries, and the wires that send them with or without an event loop."""

from ism_client.transport.http import PATIENT_RETRIES, Http, backoff, path_of, retry_after
from ism_client.transport.wires import iterate, run

__all__ = ["PATIENT_RETRIES", "Http", "backoff", "iterate", "path_of", "retry_after", "run"]
