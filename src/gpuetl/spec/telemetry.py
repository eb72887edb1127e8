"""`telemetry`: where a run reports to, besides its own report.

    telemetry: {otel: true, openlineage: true, metrics_file: /var/lib/node_exporter/daily.prom}

It stands in a pipeline or in a profile, whose keys count before those of the pipeline.  The command line and
`RunOptions(telemetry=…)` count before both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuetl.errors import Problems
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.spec.fields import Field, form_of, key, key_doc, keys_of, read_values, write_keys
from gpuetl.spec.forms import BOOLEAN, read_name
from gpuetl.spec.values import BadValue, BadValues, KeyPlace

if TYPE_CHECKING:
    from gpuetl.spec.document import Node


def read_switch(node: Node) -> bool:
    """Read true or false; a parameter cannot stand here."""
    return BOOLEAN.read(node)


def read_file(node: Node) -> str:
    """Read the path of a file of this machine."""
    text = read_name(node)
    if "://" in text or "$" in text:
        raise BadValue(coded("GE1008", "takes the path of a local file, without parameters"), node)
    return text


SWITCH: Field[bool | None] = Field("true or false", read_switch, schema={"type": "boolean"})
FILE: Field[str] = Field("the path of a local file", read_file, str, schema={"type": "string"})


@dataclass(frozen=True)
class Telemetry:
    """Where a run reports to.

    Parameters
    ----------
    otel
        True sends a trace and metrics of the run by OpenTelemetry's protocol (OTLP over HTTP).  False sends none.  None
        sends them if the environment names an endpoint, such as `OTEL_EXPORTER_OTLP_ENDPOINT`.
    openlineage
        True sends OpenLineage events.  False sends none.  None sends them if the environment or an `openlineage.yml`
        says where to, such as `OPENLINEAGE_URL`.
    metrics_file
        The file to write metrics to, in Prometheus' text format; "" writes none.
    """

    otel: bool | None = key(SWITCH, None, doc="send a trace and metrics by OpenTelemetry; default: if OTEL_… asks")
    openlineage: bool | None = key(
        SWITCH, None, doc="send OpenLineage events; default: if OPENLINEAGE_URL or openlineage.yml asks for it"
    )
    metrics_file: str = key(FILE, "", doc="write metrics of the run to this file, in the text format of Prometheus")

    def over(self, other: Telemetry) -> Telemetry:
        """Return these settings, and those of `other` where these are not given."""
        return Telemetry(
            other.otel if self.otel is None else self.otel,
            other.openlineage if self.openlineage is None else self.openlineage,
            self.metrics_file or other.metrics_file,
        )


def read_telemetry(node: Node) -> Telemetry:
    """Read a map of settings.

    Raises
    ------
    BadValue
        With every key that is wrong.
    """
    problems = Problems()
    values = read_values(keys_of(Telemetry), node, problems, "")
    if problems.found:
        raise BadValues(
            [BadValue(one.message, KeyPlace(one.place) if one.place else node, one.hint) for one in problems.found],
            Telemetry(),
        )
    return Telemetry(**(values or {}))


def schema() -> dict[str, object]:
    """Return the JSON Schema of the map."""
    keys = keys_of(Telemetry).items()
    properties = {name: {**(form_of(one).schema or {}), "description": key_doc(one)} for name, one in keys}
    return {"type": "object", "properties": properties, "additionalProperties": False}


TELEMETRY: Field[Telemetry] = Field(
    "a map of otel, openlineage and metrics_file", read_telemetry, write_keys, schema=schema()
)
