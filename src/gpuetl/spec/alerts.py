"""`on_failure` and `on_success`: who is told how a run ended.

    on_failure:
      - {command: [notify, --subject, "orders failed"]}
      - {webhook: "${env.HOOK_URL}"}

A command is a list of arguments, which no shell reads.  References such as `${env.NAME}` stand in them as in paths.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from gpuetl.errors import InvalidPipeline, Problems
from gpuetl.expressions.ir import Expr
from gpuetl.messages import coded, hide_in_line
from gpuetl.records import dataclass
from gpuetl.sandbox import OutsideSandbox, current_sandbox
from gpuetl.spec.document import Node, plain_node
from gpuetl.spec.fields import Field
from gpuetl.spec.parameters import UnboundScalar, UnresolvedScalar, resolve_scalars
from gpuetl.spec.synonyms import keys_hint
from gpuetl.spec.values import BadValue, Text

KEYS = ("command", "webhook")
EXAMPLE = "Write a list such as [{command: [notify, failed]}, {webhook: '${env.HOOK_URL}'}]."
SCHEMES = ("https", "http")
IN_SANDBOX = "Run without --sandbox if you trust the author of the file."


@dataclass(frozen=True)
class AlertSpec:
    """A command with its arguments, or the URL of a webhook, as they are written."""

    command: tuple[Text, ...] = ()
    webhook: Text = Text("")


AlertSpecs = tuple[AlertSpec, ...]


@dataclass(frozen=True)
class Alert:
    """A command with its arguments, or the URL of a webhook, with the values of references in them."""

    command: tuple[str, ...] = ()
    webhook: str = ""

    @property
    def name(self) -> str:
        """What messages call it: the path of a URL is often a secret."""
        if self.command:
            return f"command '{self.command[0]}'"
        return f"webhook {shown_url(self.webhook)}"


def shown_url(url: str) -> str:
    """Return the scheme and the host of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/…"


def read_alerts(node: Node) -> AlertSpecs:
    """Read a list of alerts."""
    if node.value is None:
        return ()
    if not isinstance(node.value, tuple):
        raise BadValue(coded("GE1008", f"takes a list of commands and webhooks, got {node.kind}"), node, EXAMPLE)
    return tuple(map(read_alert, node.value))


def read_alert(node: Node) -> AlertSpec:
    """Read one alert."""
    if not isinstance(node.value, dict):
        raise BadValue(coded("GE1008", f"takes a command or a webhook, got {node.kind}"), node, EXAMPLE)
    for name in node.value:
        if name not in KEYS:
            raise BadValue(coded("GE1006", f"unknown key '{name}'"), node.value[name], keys_hint(name, KEYS))
    if len(node.value) != 1:
        raise BadValue(coded("GE1007", "needs exactly one of command, webhook"), node, EXAMPLE)
    name, value = next(node.items())
    return AlertSpec(command=read_command(value)) if name == "command" else AlertSpec(webhook=read_webhook(value))


def read_command(node: Node) -> tuple[Text, ...]:
    """Read the arguments of a command."""
    if isinstance(node.value, str):
        words = ", ".join(map(quoted, node.value.split())) or "notify, failed"
        message = coded("GE1008", "command takes a list of arguments, got a string, which no shell splits")
        raise BadValue(message, node, f"Write command: [{words}].")
    if not isinstance(node.value, tuple) or not node.value:
        what = "an empty list" if node.value == () else node.kind
        raise BadValue(coded("GE1008", f"command takes a list of arguments, got {what}"), node, EXAMPLE)
    for one in node.value:
        if isinstance(one.value, bool | tuple | dict) or one.value is None:
            message = coded("GE1008", f"an argument of a command is a string or a number, got {one.kind}")
            raise BadValue(message, one, "Write it in quotes.")
    return tuple(Text(one.written or str(one.value), one) for one in node.value)


def quoted(word: str) -> str:
    """Return a word as YAML has it in a list."""
    return word if word.replace("-", "").replace("/", "").replace(".", "").replace("_", "").isalnum() else f"'{word}'"


def read_webhook(node: Node) -> Text:
    """Read the URL of a webhook; no message shows what follows the host."""
    if not isinstance(node.value, str) or not node.value:
        raise BadValue(coded("GE1008", f"webhook takes a URL, got {node.kind}"), node, "Write https://…")
    place, found = node.place(), urlsplit(node.value)
    begin = len(f"{found.scheme}://{found.netloc}")
    if "${" not in node.value and found.netloc and len(node.value) > begin:
        hide_in_line(place.source, place.column - 1 + node.quoted + begin, len(node.value) - begin)
    if "${" not in node.value and (problem := url_problem(node.value)):
        raise BadValue(coded("GE1008", f"webhook {problem}"), node, "Write https://…")
    return Text(node.value, node)


def url_problem(url: str) -> str:
    """Return what is wrong with a URL; nothing for one that can be sent to."""
    try:
        parts = urlsplit(url)
        found = parts.scheme in SCHEMES and parts.hostname and (parts.port or 1)
    except ValueError:
        found = False
    if found and not any(sign.isspace() or not sign.isprintable() for sign in url):
        return ""
    return "takes a URL that begins with https:// or http:// and a host"


def write_alerts(alerts: Iterable[AlertSpec]) -> list[dict[str, Any]]:
    """Return alerts as plain data.

    Raises
    ------
    InvalidPipeline
        For a webhook whose URL has a path that is no variable: it may be secret, and a file is no place for it.
    """
    return [write_alert(one) for one in alerts]


def write_alert(alert: AlertSpec) -> dict[str, Any]:
    """Return one alert as plain data."""
    if alert.command:
        return {"command": [str(word) for word in alert.command]}
    if "${" not in alert.webhook and urlsplit(alert.webhook).path.strip("/"):
        message = coded(
            "GE1483", f"the URL {shown_url(alert.webhook)} may be a secret, which is not written into a file"
        )
        raise InvalidPipeline.because(message, "Write ${env.NAME}, and set the environment variable NAME.")
    return {"webhook": str(alert.webhook)}


def alert_of(command: Sequence[str] | None, webhook: str | None, within: str) -> AlertSpec:
    """Return an alert that is declared in Python.

    Raises
    ------
    InvalidPipeline
        For one that a file may not have.
    """
    given = {"command": list(command) if command and not isinstance(command, str) else command, "webhook": webhook}
    try:
        return read_alert(plain_node({name: value for name, value in given.items() if value is not None}))
    except BadValue as error:
        raise InvalidPipeline.because(error.message, error.hint, within) from None


def with_alert(alerts: AlertSpecs, alert: AlertSpec) -> AlertSpecs:
    """Add an alert; a cell of a notebook that runs again adds none."""
    return alerts if alert in alerts else (*alerts, alert)


ALERTS: Field[AlertSpecs | None] = Field(
    "a list of commands and webhooks",
    read_alerts,
    lambda alerts: None if alerts is None else write_alerts(alerts),
    schema={
        "type": ["array", "null"],
        "items": {
            "type": "object",
            "properties": {
                "command": {
                    "type": "array",
                    "items": {"type": ["string", "number"]},
                    "minItems": 1,
                    "description": "A program and its arguments. It gets the manifest of the run on stdin.",
                },
                "webhook": {"type": "string", "description": "A URL. The manifest of the run is sent there by POST."},
            },
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        },
    },
)


# Alerts with the values of what they refer to.


def bound_alerts(
    specs: Iterable[AlertSpec],
    parameters: Mapping[str, Expr],
    run_id: str,
    problems: Problems,
    within: str,
    environment: Mapping[str, str] = os.environ,
) -> tuple[Alert, ...]:
    """Return alerts with the values of references; one that is wrong is left out, and its problem is kept."""
    found: list[Alert] = []
    for spec in specs:
        at = (spec.command[0] if spec.command else spec.webhook).node
        place = at.place() if at else None
        try:
            if sandbox := current_sandbox():
                sandbox.refuse_code("an alert runs a command, or sends data, of the file's author")
            words = tuple(resolve_scalars(word, parameters, run_id, environment) for word in spec.command)
            url = resolve_scalars(spec.webhook, parameters, run_id, environment)
        except OutsideSandbox as error:
            problems.add(str(error), IN_SANDBOX, place, within)
        except UnresolvedScalar as error:
            problems.add(str(error), "", place, within)
        except UnboundScalar:  # of `validate`: the value of a required parameter is not known yet
            continue
        else:
            problem = "" if words else url_problem(url)
            if problem:
                problems.add(coded("GE1008", f"webhook {problem}"), "Look at the value of its variable.", place, within)
            else:
                found.append(Alert(words, url))
    return tuple(found)
