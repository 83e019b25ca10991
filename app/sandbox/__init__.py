"""Heavy and risky work, each task in a confined process of its own with limits on time and memory."""

from app.sandbox.confinement import SECRETS
from app.sandbox.drawing import PLOT_SOURCES, PlotFormat, draw_plot
from app.sandbox.limits import SharedMemory, table_limits
from app.sandbox.messages import Answer, Located, Upload
from app.sandbox.pool import SandboxPool
from app.sandbox.report import REPORT_POLICY, render_report
from app.sandbox.report_pdf import render_pdf_report
from app.sandbox.tasks import (
    TableFormat,
    convert_table,
    count_remaining,
    export_onnx,
    ingest,
    project_rows,
    project_upload,
    register,
    select_rows,
)

__all__ = [
    "PLOT_SOURCES",
    "REPORT_POLICY",
    "SECRETS",
    "Answer",
    "Located",
    "PlotFormat",
    "SandboxPool",
    "SharedMemory",
    "TableFormat",
    "Upload",
    "convert_table",
    "count_remaining",
    "draw_plot",
    "export_onnx",
    "ingest",
    "project_rows",
    "project_upload",
    "register",
    "render_pdf_report",
    "render_report",
    "select_rows",
    "table_limits",
]
