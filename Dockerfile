# docker build -t tallystick . && docker run --rm -v "$PWD:/data" tallystick score records gold.jsonl system.jsonl
FROM python:3.13-slim AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev
COPY . /source
RUN pip wheel --quiet --wheel-dir /wheels /source

FROM python:3.13-slim
RUN --mount=from=build,source=/wheels,target=/wheels pip install --quiet --no-index --find-links /wheels tallystick
RUN useradd --create-home scorer
USER scorer
WORKDIR /data
ENTRYPOINT ["tallystick"]
CMD ["--help"]
