# One image for the API, the workers and a Dask cluster. docker-compose.yml runs them together with Redis.
#
#   docker build --tag ism .
#
# ISM_PYTHON_IMAGE can name a copy of the base image in your own registry.

ARG ISM_PYTHON_IMAGE=python:3.12.12-slim-bookworm@sha256:593bd06efe90efa80dc4eee3948be7c0fde4134606dd40d8dd8dbcade98e669c

FROM ${ISM_PYTHON_IMAGE} AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1
WORKDIR /src
RUN python -m venv --without-pip /opt/ism

# Dependencies come first, so that this layer is rebuilt only when the lock changes.
COPY requirements.lock ./
RUN python -m pip --python /opt/ism/bin/python install --require-hashes --only-binary :all: -r requirements.lock

COPY pyproject.toml README.md LICENSE ./
COPY app app/
COPY ism_cli ism_cli/
COPY ism_plots ism_plots/
COPY ism_client ism_client/
COPY ism_core ism_core/
COPY ism_jobs ism_jobs/
COPY worker worker/
RUN python -m pip --python /opt/ism/bin/python install --no-deps --no-index --no-build-isolation .

# Remove what nothing here loads: the build backend, tests, headers, and pyarrow's parts for other services.
# numba's cache knows a source by its time. Layers keep whole seconds only, so the times are whole seconds from here on.
RUN python -m pip --python /opt/ism/bin/python uninstall --yes --quiet setuptools \
    && find /opt/ism/lib/python3.12/site-packages -depth \( -type d -name tests -o -path '*/onnx/backend/test' \
        -o -path '*/pyarrow/include' -o -path '*/pyarrow/src' -o -path '*/pyarrow/*flight*' \
        -o -name '*.pyi' -o -name '*.pxd' \) -exec rm -rf {} + \
    && find /opt/ism -name '*.py' -exec touch --date="@$(date +%s)" {} + \
    && /opt/ism/bin/python -m compileall -qq -j 0 /opt/ism

FROM ${ISM_PYTHON_IMAGE}

# The root file system may be read-only: the service writes to /tmp, workers also to their cache of machine code in
# /var/cache/ism, and `ism keys` to the volume at /keys. So bytecode of the standard library is made here.
COPY --from=build /opt/ism /opt/ism
RUN groupadd --gid 10001 ism \
    && useradd --uid 10001 --gid ism --no-log-init --no-create-home --home-dir /tmp --shell /usr/sbin/nologin ism \
    && install --directory --owner ism --group ism --mode 700 /var/cache/ism \
    && install --directory --owner ism --group ism --mode 700 /keys \
    && python -m compileall -qq -j 0 -x '/(site-packages|test|idlelib|ensurepip|lib2to3)/' /usr/local/lib/python3.12

ENV PATH=/opt/ism/bin:$PATH \
    HOME=/tmp \
    MPLCONFIGDIR=/tmp/matplotlib \
    NUMBA_CACHE_DIR=/var/cache/ism \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /tmp
USER 10001:10001

# For the processor of this machine; a worker on another one compiles in the background.
RUN python -m ism_core.objective.compiled
EXPOSE 8000

HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-c", "import http.client, sys; api = http.client.HTTPConnection('127.0.0.1', 8000, timeout=4); api.request('GET', '/healthz'); sys.exit(api.getresponse().status != 200)"]

CMD ["ism", "api", "--host", "0.0.0.0", "--port", "8000"]
