"""Alerts, sent: a command that gets the manifest on stdin, a webhook that gets it by POST.  No shell, no redirects."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from gpuetl import messages
from gpuetl.errors import system_reason
from gpuetl.messages import coded, cut, one_line, redacted
from gpuetl.spec.alerts import Alert
from gpuetl.version import __version__

COMMAND_TIMEOUT_S = 60.0
WEBHOOK_TIMEOUT_S = 10.0
"""Of one attempt, from the connection to the first line of the answer."""
ATTEMPTS = 3
FIRST_WAIT_S = 1.0
"""Before the second attempt; before each later one twice as long."""
TOO_MANY, SERVER_ERROR = 429, 500
VARIABLE, STATUS = "GPUETL_MANIFEST", "GPUETL_STATUS"


class AlertFailed(Exception):
    """An alert that was not sent; worded for the user.  `may_pass` says whether another attempt has a chance."""

    def __init__(self, why: str, may_pass: bool = False) -> None:
        self.may_pass = may_pass
        super().__init__(why)


def sent_alerts(alerts: Iterable[Alert], manifest: str, path: str, status: str, folder: Path | None) -> tuple[str, ...]:
    """Send alerts one after the other; return a warning for each that failed.

    Parameters
    ----------
    alerts
        Those for the way in which the run ended.
    manifest
        The text that a command gets on stdin, and a webhook as the body of a POST.
    path
        Where the manifest is; empty where it was not written.
    status
        How the run ended.
    folder
        The folder in which commands run.
    """
    warnings: list[str] = []
    for alert in alerts:
        try:
            if alert.command:
                run_command(alert.command, manifest, path, status, folder)
            else:
                post(alert.webhook, manifest)
        except AlertFailed as error:
            warnings.append(warning_of(alert, str(error)))
        except KeyboardInterrupt:
            warnings.append(warning_of(alert, "interrupted; later alerts are not sent"))
            break
        except Exception as error:
            warnings.append(warning_of(alert, f"{type(error).__name__}: {error}"))
    return tuple(warnings)


def warning_of(alert: Alert, why: str) -> str:
    """Word an alert that failed."""
    message = coded("GE3021", f"the alert by {alert.name} failed: {why}")
    return redacted(messages.with_code(message, message))


def run_command(command: tuple[str, ...], manifest: str, path: str, status: str, folder: Path | None) -> None:
    """Run a command with the manifest on stdin; it and what it has started are killed after a minute.

    Raises
    ------
    AlertFailed
        With the last line of its output.
    """
    environment = {**os.environ, STATUS: status, **({VARIABLE: path} if path else {})}
    if not path:
        environment.pop(VARIABLE, None)
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
            env=environment, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        reason = system_reason(error) if isinstance(error, OSError) else str(error)
        raise AlertFailed(f"it cannot be started: {reason}") from None
    try:
        output, _ = process.communicate(manifest.encode(), timeout=COMMAND_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise AlertFailed(f"it ran longer than {COMMAND_TIMEOUT_S:g} s and was ended") from None
    finally:
        if process.poll() is None:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
    if process.returncode:
        ended = f"signal {-process.returncode}" if process.returncode < 0 else f"exit code {process.returncode}"
        lines = output.decode(errors="replace").strip().splitlines()
        raise AlertFailed(f"{ended}: {cut(one_line(lines[-1]))}" if lines else ended)


class NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: the standard library would send a GET without the manifest there."""

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        """Return no request."""
        return


def post(url: str, manifest: str, wait: Callable[[float], None] = time.sleep) -> None:
    """Send a manifest to a webhook; try again where the server may come back.

    Raises
    ------
    AlertFailed
        With the reason of the last attempt.
    """
    for attempt in range(ATTEMPTS):
        try:
            attempt_within(WEBHOOK_TIMEOUT_S, lambda: post_once(url, manifest))
        except AlertFailed as error:
            if not error.may_pass:
                raise
            if attempt == ATTEMPTS - 1:
                raise AlertFailed(f"{error}, {ATTEMPTS} times") from None
            wait(FIRST_WAIT_S * 2**attempt)
        else:
            return


def attempt_within(seconds: float, send: Callable[[], None]) -> None:
    """Give an attempt so many seconds in all: a server that sends a byte now and then would keep a socket alive."""
    failed: list[AlertFailed] = []

    def work() -> None:
        try:
            send()
        except AlertFailed as error:
            failed.append(error)

    thread = threading.Thread(target=work, name="gpuetl-alert", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise AlertFailed(f"no answer in {seconds:g} s", may_pass=True)
    if failed:
        raise failed[0]


def post_once(url: str, manifest: str) -> None:
    """Send one request.

    Raises
    ------
    AlertFailed
        For an answer other than one of success, or none.
    """
    headers = {"Content-Type": "application/json", "User-Agent": f"gpuetl/{__version__}"}
    request = Request(url, manifest.encode(), headers, method="POST")
    try:
        with build_opener(NoRedirects).open(request, timeout=WEBHOOK_TIMEOUT_S):
            pass
    except HTTPError as error:
        error.close()
        may_pass = error.code >= SERVER_ERROR or error.code == TOO_MANY
        raise AlertFailed(f"the server answered {error.code} {error.reason}", may_pass) from None
    except TimeoutError:
        raise AlertFailed(f"no answer in {WEBHOOK_TIMEOUT_S:g} s", may_pass=True) from None
    except (URLError, OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        text = system_reason(reason) if isinstance(reason, BaseException) else ""
        raise AlertFailed(one_line(text or str(reason) or type(error).__name__), may_pass=True) from None
