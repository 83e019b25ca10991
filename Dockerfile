# One image for the API, the workers and a Dask cluster. docker-compose.yml runs them together with Redis.
#
#   docker build --tag ism .

FROM python:3.12-slim AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python -m venv /opt/ism

# Dependencies come first, so that this layer is rebuilt only when the lock changes.
COPY requirements.lock ./
RUN /opt/ism/bin/pip install --require-hashes --only-binary :all: -r requirements.lock

COPY pyproject.toml README.md LICENSE ./
COPY app app/
COPY ism_cli ism_cli/
COPY ism_plots ism_plots/
COPY ism_client ism_client/
COPY ism_core ism_core/
COPY ism_jobs ism_jobs/
COPY worker worker/
RUN /opt/ism/bin/pip install --no-deps --no-index --no-build-isolation .

FROM python:3.12-slim

COPY --from=build /opt/ism /opt/ism
RUN groupadd --system --gid 10001 ism && useradd --system --uid 10001 --gid ism --no-create-home --home-dir /tmp ism \
    && install --directory --owner ism --group ism --mode 700 /keys

# The root file system may be read-only: the service writes to /tmp only, and `ism keys` to the volume at /keys.
ENV PATH=/opt/ism/bin:$PATH \
    HOME=/tmp \
    MPLCONFIGDIR=/tmp/matplotlib \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /tmp
USER 10001:10001
EXPOSE 8000

HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import http.client, sys; api = http.client.HTTPConnection('127.0.0.1', 8000, timeout=4); api.request('GET', '/healthz'); sys.exit(api.getresponse().status != 200)"]

CMD ["ism", "api", "--host", "0.0.0.0", "--port", "8000"]
