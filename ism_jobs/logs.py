"""Logs: one event on each line, with the ids of its request and its job."""

import logging
import sys

import structlog

from ism_jobs.settings import Settings


def configure(settings: Settings) -> None:
    """Send all log events, also those of libraries, to stderr in one format."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    as_json: list[structlog.typing.Processor] = [
        structlog.processors.ExceptionRenderer(
            structlog.tracebacks.ExceptionDictTransformer(show_locals=False)  # local variables hold data and secrets
        ),
        structlog.processors.JSONRenderer(ensure_ascii=False),
    ]
    as_text: list[structlog.typing.Processor] = [
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *(as_json if settings.log_format == "json" else as_text),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    for verbose in ("rq.worker", "uvicorn.access"):
        logging.getLogger(verbose).setLevel(logging.WARNING)


log: structlog.stdlib.BoundLogger = structlog.get_logger("ism")
