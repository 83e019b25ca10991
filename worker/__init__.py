"""The workers: they take jobs from the queue, solve them, report their progress and save their results."""
