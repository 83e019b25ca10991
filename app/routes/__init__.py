"""The routes, one module per resource."""

from app.routes import batches, dataset_rows, datasets, jobs, results, service, webhooks

ROUTERS = [module.router for module in (datasets, dataset_rows, jobs, results, batches, webhooks, service)]
METRICS_ROUTER = service.metrics_router

__all__ = ["METRICS_ROUTER", "ROUTERS"]
