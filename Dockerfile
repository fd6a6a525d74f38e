# docker build -t frontrank .
# docker run --rm -v "$PWD:/data" frontrank crawl https://site.example/ --out my-crawl
FROM python:3.13-slim AS build
WORKDIR /source
RUN python -m venv /opt/frontrank
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/frontrank/bin/pip install --no-cache-dir --disable-pip-version-check ".[all]"

FROM python:3.13-slim
RUN useradd --create-home --uid 1000 crawler && mkdir /data && chown crawler:crawler /data
COPY --from=build /opt/frontrank /opt/frontrank
# Kernels are compiled when they are first used; /tmp, so that they can be kept for any `docker run --user` too.
ENV PATH=/opt/frontrank/bin:$PATH NUMBA_CACHE_DIR=/tmp/numba PYTHONUNBUFFERED=1
USER crawler
WORKDIR /data
ENTRYPOINT ["frontrank"]
CMD ["--help"]
