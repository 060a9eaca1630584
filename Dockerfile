# Toolspan in a small image, run by a user without rights. By itself it serves on stdio and listens at no
# address; docs/how-to/install-toolspan.md says how to publish a port.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md CHANGELOG.md LICENSE ./
COPY server server
COPY bridge bridge
COPY docs/man docs/man
# Such as queue, for workers of validation.
ARG EXTRAS=
RUN python -m venv /opt/toolspan \
 && /opt/toolspan/bin/python -m pip install --no-cache-dir --disable-pip-version-check -c constraints.txt ".${EXTRAS:+[$EXTRAS]}" \
 && /opt/toolspan/bin/python -m pip uninstall --yes --quiet pip

FROM python:3.12-slim
COPY --from=build /opt/toolspan /opt/toolspan
RUN useradd --uid 10001 --create-home toolspan && install -d -o toolspan -g toolspan /work
ENV PATH=/opt/toolspan/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /work
ENTRYPOINT ["toolspan"]
CMD ["serve"]
