"""Webhooks: which URLs may be called, and the loop that delivers messages to them."""

from app.webhooks.addresses import url_refusal
from app.webhooks.sender import Sender

__all__ = ["Sender", "url_refusal"]
