"""Commits: files of others in a sink, other runs, and runs that died."""

from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import OUT, SOURCES

RUN = "20260101T020000-0a1b2c3d"
LEASE = """\
{"run_id": "20260101T020000-0a1b2c3d", "target": "TARGET", "pipeline": "daily", "host": "node7", "boot": "", "pid": 4711, "started": "2026-01-01T02:00:00"}
"""
JOURNAL = """\
{"gpuetl": 1, "stagings": [".TARGET.20260101T020000-0a1b2c3d"], "folders": [], "steps": []}
"""


def left_by_another_host(target: str) -> dict[str, str]:
    """Return the files of a commit that a run of another host has begun."""
    staging = f".{target}.{RUN}"
    return {
        f"{staging}/lease.json": LEASE.replace("TARGET", target),
        f"{staging}/journal.json": JOURNAL.replace("TARGET", target),
        f"{staging}/commit.forward": "",
    }


PAGES = (
    ErrorPage(
        code="GE1461",
        title="a folder has files of another format",
        cause="The sink would add files to a folder in which parts of another format are.  A reader takes one format of a "
        "folder, so it would miss the others.  No sink of the run has changed.",
        fix="Write the format that the folder has, or give the sink another folder.",
        kind="pipeline",
        files={"out/part-00000.csv": "id,amount\n9,9.5\n"},
        example=SOURCES + OUT.replace("out.parquet", "out").replace("overwrite", "append"),
        message="""\
example.yaml:6:31: sink 'out': out has files of another format, CSV, such as part-00000.csv  [GE1461]
    out: {from: sales, parquet: out, mode: append}
                                ^^^
Readers of Parquet would not read those.  Write CSV, or give the sink a different path.""",
        fixed=SOURCES + OUT.replace("out.parquet", "out").replace("parquet:", "csv:").replace("overwrite", "append"),
    ),
    ErrorPage(
        code="GE1510",
        title="keep_foreign does not fit the sink",
        cause="`keep_foreign` keeps files that gpuetl did not write in a folder that is replaced.  This sink writes one "
        "file, or its mode replaces nothing.",
        fix="Leave `keep_foreign` out.",
        kind="pipeline",
        example=SOURCES + OUT.replace("overwrite", "overwrite, keep_foreign: true"),
        message="""\
example.yaml:6:31: sink 'out': keep_foreign is for a folder with mode overwrite, replace_partitions or upsert  [GE1510]
    out: {from: sales, parquet: out.parquet, mode: overwrite, keep_foreign: true}
                                ^^^^^^^^^^^
Leave it out: nothing else is removed.""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1511",
        title="a folder holds files that gpuetl did not write",
        cause="The sink would replace a folder, and files in it are not on gpuetl's list: another tool or a person wrote "
        "them, or changed them since.  Hidden files count too.  No sink of the run has changed.",
        fix="Set `keep_foreign: true`: the files stay.  Or move them elsewhere, or give the sink another folder.",
        kind="pipeline",
        files={
            "out/notes.txt": """\
mine
"""
        },
        example=SOURCES + OUT.replace("out.parquet", "out"),
        message="""\
example.yaml:6:31: sink 'out': out holds 1 file that gpuetl did not write, or that changed since: notes.txt.  Set keep_foreign: true to keep it, or give the sink a folder of its own  [GE1511]
    out: {from: sales, parquet: out, mode: overwrite}
                                ^^^""",
        fixed=SOURCES + OUT.replace("out.parquet", "out").replace("overwrite", "overwrite, keep_foreign: true"),
    ),
    ErrorPage(
        code="GE1512",
        title="another run has locked the folder of a sink",
        cause="Runs of one machine that write to the same folder commit one after the other.  Another run has held the "
        "lock for five minutes.  No sink of this run has changed.",
        fix="Look at the other run: its process may be stopped, or its disk may hang.  Then run again.",
        kind="command",
        example="gpuetl run daily.yaml",
        message="daily.yaml:9:30: sink 'out': another run has been changing /data for minutes.  No sink has changed.  "
        "Run again  [GE1512]",
        untested="it takes a second run, and five minutes",
    ),
    ErrorPage(
        code="GE1513",
        title="a dead run's commit cannot be recovered",
        cause="A run died while it changed its sinks.  Its journal, its record or its files are missing, someone has changed "
        "the sink since, or the system refuses a change.  Nothing was removed.",
        fix="The message names the folders.  Compare them with the sink.  If the sink is as it should be, remove the staging "
        "folder; else move the right files from it to the sink.",
        kind="command",
        example="gpuetl recover out",
        message=".out.20260101T020000-0a1b2c3d is in an unclear state.  "
        ".out.20260101T020000-0a1b2c3d/new should go to out, and is at neither place  [GE1513]",
        untested="it takes a run that is killed",
    ),
    ErrorPage(
        code="GE1514",
        title="a run of another host has not ended its commit",
        cause="The sink is on a shared disk.  A run of another host has begun to change it, and may still be alive.",
        fix="Wait for that run.  If you know that it is dead, run `gpuetl recover --host NAME PATH`.",
        kind="pipeline",
        files=left_by_another_host("out.parquet"),
        example=SOURCES + OUT,
        message="""\
example.yaml:6:31: sink 'out': a run of host node7 has begun to change out.parquet, and has not ended: .out.parquet.20260101T020000-0a1b2c3d.  Wait for it.  If that run is dead: gpuetl recover --host node7 out.parquet  [GE1514]
    out: {from: sales, parquet: out.parquet, mode: overwrite}
                                ^^^^^^^^^^^""",
    ),
    ErrorPage(
        code="GE1515",
        title="a source is a sink whose commit has not ended",
        cause="A run died, or runs on another host, while it changes the files of this source.  Some files may be old and "
        "some new.",
        fix="Run that pipeline again, or `gpuetl recover PATH`: both finish the commit, or undo it.",
        kind="pipeline",
        files=left_by_another_host("sales.csv"),
        example=SOURCES + OUT,
        message="""\
example.yaml:4:16: source 'sales': a run died while it changed sales.csv: some files may be old and some new.  Run it again, or use: gpuetl recover sales.csv  [GE1515]
    sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
                 ^^^^^^^^^""",
    ),
    ErrorPage(
        code="GE1516",
        title="nothing exists at the path",
        cause="`gpuetl recover` or `gpuetl clean` got a path that does not exist, and no run left anything next to it.",
        fix="Give the path of a sink, as the pipeline has it, or a folder in which to look.",
        kind="command",
        example="gpuetl recover nothing",
        message="nothing does not exist, and no run left anything next to it  [GE1516]",
    ),
    ErrorPage(
        code="GE1720",
        title="a run that died was recovered",
        cause="An earlier run was killed while it changed its sinks.  This run finished that commit, or undid it, before it "
        "began: all sinks of the earlier run are new, or all are old.",
        fix="Nothing needs to be done.  Look at what ended the earlier run, such as memory or a time limit.",
        kind="command",
        example="gpuetl run daily.yaml",
        message="warning: run 20260101T020000-0a1b2c3d died while it changed its sinks.  Its commit was finished: "
        "/data/out has that run's rows now  [GE1720]",
        untested="it takes a run that is killed",
    ),
    ErrorPage(
        code="GE1721",
        title="a file of others is read with the sink",
        cause="With `keep_foreign: true` a sink kept a file that gpuetl did not write.  It has the sink's suffix, so readers of "
        "the folder read its rows too.",
        fix="Move the file to another folder, if its rows do not belong to the sink.",
        kind="pipeline",
        files={"out/by_hand.csv": "id,amount\n9,9.5\n"},
        example=SOURCES
        + OUT.replace("parquet: out.parquet", "csv: out").replace("overwrite", "overwrite, keep_foreign: true"),
        message="""\
warning: sink 'out': kept 1 file that gpuetl did not write, and that readers of out read too: by_hand.csv.  Move it if its rows do not belong there  [GE1721]""",
    ),
)
