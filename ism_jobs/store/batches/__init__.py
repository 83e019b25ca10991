"""Batches: jobs that were posted together, and what is done to all of them at once."""

from ism_jobs.store.batches.batches import Batch, Batches

__all__ = ["Batch", "Batches"]
