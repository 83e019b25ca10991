"""The routes, one module per resource."""

from app.routes import batches, catalogue, datasets, health, jobs, results, rows

ROUTERS = [module.router for module in (datasets, rows, jobs, results, batches, catalogue, health)]
METRICS_ROUTER = health.metrics_router

__all__ = ["METRICS_ROUTER", "ROUTERS"]
