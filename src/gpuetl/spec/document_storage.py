"""The section of the language's page on object stores; the table of options is that which the reader has."""

from __future__ import annotations

from gpuetl.places.storage import OPTIONS

TEXT = """\
## Storage

Sources and sinks may be in Amazon S3 and compatible stores (`s3://bucket/key`), Google Cloud Storage (`gs://`) and
Azure Blob Storage (`az://container/key`).  Sources may also be files of HTTP servers (`https://host/path`).
By default, gpuetl takes credentials from the environment, as the tools of each cloud do.

`storage_options` gives the options of one source or sink:

    sources:
      flights: {parquet: "s3://open-data/flights", storage_options: {region: eu-central-1, skip_signature: true}}

`storage` names options that several sources and sinks share:

    params:
      region: {type: string, default: eu-central-1}
    storage:
      lake:
        endpoint: https://minio.example.com:9000
        region: $region
        access_key_id: {env: LAKE_KEY}
        secret_access_key: {env: LAKE_SECRET}
    sources:
      sales: {parquet: "s3://shop/sales", storage: lake}
    sinks:
      daily: {from: clean, parquet: "s3://shop/daily", mode: overwrite, storage: lake}

A value is a string, a number, a boolean, a parameter (`$name`), or an environment variable (`{env: NAME}`).  If a
variable is not set, the pipeline is not valid.  Options come before the environment.  A source or sink has either
`storage` or `storage_options`.

In Python:

    pipeline.storage("lake", region="eu-central-1", secret_access_key={"env": "LAKE_SECRET"})
    sales = pipeline.read_parquet("sales", "s3://shop/sales", storage="lake")
    flights = pipeline.read_parquet("flights", "s3://open-data/flights", storage_options={"skip_signature": True})

"""
RULES = """
Prefixes of other tools are accepted: `aws_region` and `endpoint_url` mean `region` and `endpoint`.

gpuetl never shows the value of a secret: not in messages, reports, plans or logs.  `to_yaml` refuses to write one
(GE1483).  Fingerprints and run marks do not depend on credentials, so you can rotate them.

Pipeline files may be in a store, too:

    gpuetl run s3://shop/pipelines/daily.yaml

Their credentials come from the environment.  Relative paths in such a file, of data, kernels and sinks, begin at its
folder in the store.  A kernel's `cuda` and `reference` may also be whole paths, such as `https://example.com/k.cu`.
"""


def storage_markdown() -> str:
    """Return the section."""
    rows = [
        f"| `{name}` | {', '.join(f'`{scheme}://`' for scheme in option.schemes)} | {'yes' if option.secret else ''} |"
        for name, option in OPTIONS.items()
    ]
    return TEXT + "\n".join(["| option | stores | secret |", "|---|---|---|", *rows, ""]) + RULES
