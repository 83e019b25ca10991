"""The routes, one module per resource."""

from app.routes import batches, datasets, jobs, results, rows, service

ROUTERS = [module.router for module in (datasets, rows, jobs, results, batches, service)]
METRICS_ROUTER = service.metrics_router

__all__ = ["METRICS_ROUTER", "ROUTERS"]
