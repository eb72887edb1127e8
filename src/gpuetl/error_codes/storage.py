"""Options of object stores."""

from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import OUT, SOURCES

PAGES = (
    ErrorPage(
        code="GE1480",
        title="unknown option of a store",
        cause="`storage_options`, or a profile in `storage`, has an option that gpuetl does not know, that another kind "
        "of store has, or that is given twice.",
        fix="Correct the name, or take the option out.  [The language](../language.md#storage) lists the options.",
        kind="pipeline",
        example=SOURCES.replace("}}", "}, storage_options: {regoin: eu-central-1}}") + OUT,
        message="""\
example.yaml:4:83: source 'sales': storage_options: unknown option 'regoin' of a store  [GE1480]
    sales: {csv: sales.csv, schema: {id: int64, amount: float64}, storage_options: {regoin: eu-central-1}}
                                                                                    ^^^^^^
Did you mean 'region'?""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1481",
        title="storage that does not fit its path",
        cause="A source or sink on this machine has options of a store, or one has both `storage` and "
        "`storage_options`.",
        fix="Take the options out, or give the path of a store, such as `s3://shop/sales.csv`.  Keep one of both keys.",
        kind="pipeline",
        example=SOURCES.replace("}}", "}, storage_options: {region: eu-central-1}}") + OUT,
        message="""\
example.yaml:4:91: source 'sales': sales.csv is a path of this machine, which has no storage  [GE1481]
    sales: {csv: sales.csv, schema: {id: int64, amount: float64}, storage_options: {region: eu-central-1}}
                                                                                            ^^^^^^^^^^^^
Take the storage out, or give a path such as s3://…""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1482",
        title="unknown storage",
        cause="A source or sink names a profile that `storage` does not have.",
        fix="Correct the name, or add the profile to `storage`.",
        kind="pipeline",
        example=SOURCES.replace("csv: sales.csv", 'csv: "s3://shop/sales.csv"').replace("}}", "}, storage: lake}")
        + OUT,
        message="""\
example.yaml:4:86: source 'sales': unknown storage 'lake'  [GE1482]
    sales: {csv: "s3://shop/sales.csv", schema: {id: int64, amount: float64}, storage: lake}
                                                                                       ^^^^
Storage: none.""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1483",
        title="secret in a pipeline that is written",
        cause="`to_yaml` does not write the value of a secret option, such as `secret_access_key`, into a file.",
        fix="Give the option as `{'env': 'NAME'}`, and set the environment variable before the run.",
        kind="python",
        example="""\
import gpuetl

pipeline = gpuetl.Pipeline("example")
pipeline.storage("lake", region="eu-central-1", secret_access_key="not-for-files")
print(pipeline.to_yaml())""",
        message="""\
gpuetl.errors.InvalidPipeline: the value of secret_access_key is a secret, which is not written into a file  [GE1483]
Write {env: NAME}, and set the environment variable NAME.""",
        fixed="""\
import gpuetl

pipeline = gpuetl.Pipeline("example")
pipeline.storage("lake", region="eu-central-1", secret_access_key={"env": "LAKE_SECRET"})
print(pipeline.to_yaml())""",
    ),
)
