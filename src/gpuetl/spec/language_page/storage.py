"""The section of the language's page on object stores."""

from gpuetl.spec.language_page.options_table import store_table

STORAGE = """\
## Storage

```yaml
sources:
  flights: {parquet: "s3://open-data/flights", storage_options: {region: eu-central-1, skip_signature: true}}
```

| path | store | sources | sinks |
|---|---|---|---|
| `s3://bucket/key` | Amazon S3 and compatible stores | yes | yes |
| `gs://bucket/key` | Google Cloud Storage | yes | yes |
| `az://container/key` | Azure Blob Storage | yes | yes |
| `https://host/path` | HTTP servers | yes | no |

By default, gpuetl takes credentials from the environment, like the tools of each cloud. To give the options of one
source or sink, write `storage_options`. To share options, give them a name under `storage`:

```yaml
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
```

In Python:

```python
pipeline.storage("lake", region="eu-central-1", secret_access_key={"env": "LAKE_SECRET"})
sales = pipeline.read_parquet("sales", "s3://shop/sales", storage="lake")
flights = pipeline.read_parquet("flights", "s3://open-data/flights", storage_options={"skip_signature": True})
```

"""
STORAGE_RULES = """
- A value is a string, a number, a boolean, a parameter (`$name`), or an environment variable (`{env: NAME}`). If the
  variable is not set, the pipeline is not valid.
- Options count before the environment.
- A source or sink has either `storage` or `storage_options`.
- gpuetl accepts prefixes of other tools: `aws_region` and `endpoint_url` mean `region` and `endpoint`.
- gpuetl never shows the value of a secret in messages, reports, plans or logs. `to_yaml` refuses to write one
  ([GE1483](errors/GE1483.md)).
- Fingerprints and run marks do not depend on credentials, so you can rotate them.

Pipeline files may be in a store, too:

    gpuetl run s3://shop/pipelines/daily.yaml

Their credentials come from the environment. Relative paths in such a file begin at its folder in the store. The keys
`cuda` and `reference` of a kernel may also be whole paths, such as `https://example.com/k.cu`.

[Places](places.md) explains how gpuetl reads and writes each store.

| error | reason |
|---|---|
| [GE1480](errors/GE1480.md) | unknown option of a store |
| [GE1481](errors/GE1481.md) | storage that does not fit its path |
| [GE1482](errors/GE1482.md) | unknown name of storage |
| [GE1409](errors/GE1409.md) | scheme of a path that gpuetl does not support |
"""


def storage_markdown() -> str:
    """Return the section."""
    return STORAGE + store_table() + STORAGE_RULES
