"""Webhooks in Redis: messages that wait to be delivered, the log of deliveries, and the secrets that sign them."""

from ism_jobs.store.webhooks.outbox import Delivery, Webhooks, backoff_seconds

__all__ = ["Delivery", "Webhooks", "backoff_seconds"]
