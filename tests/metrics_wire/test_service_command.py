"""The command `jobs-service`, as a process and at its readers' doors."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import pytest
from live_service import TASK, live, point
from typer.testing import CliRunner

from impl.metrics_wire.service.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMAND = [sys.executable, "-m", "impl.metrics_wire.service"]
TOKEN = "s3cret"  # noqa: S105 - of services that live as long as a test


@contextmanager
def running(*options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a process, and the URL that it says."""
    command = [*COMMAND, "serve", "--port", "0", *options]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def invoke(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_it_says_its_url_and_ends_well_and_what_it_acknowledged_outlives_a_kill(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'jobs.sqlite'}"
    path = TASK.format(job="job-1")
    with running("--database", database) as (process, url):
        assert httpx.put(url + path, json={"status": "active"}).status_code == 200
        body = {"metrics": {"train_loss": [point(1, 0.5)]}}
        assert httpx.post(f"{url}{path}/metrics", json=body).status_code == 200
        process.kill()
        process.wait()
    with running("--database", database, "--rule", "merge") as (process, url):
        before = httpx.get(url + path).json()
        assert before["status_details"]["metrics"]["train_loss"] == [point(1, 0.5)]
        merged = httpx.put(url + path, json={"status_details": {"a": 1}}).json()
        assert httpx.put(url + path, json={"status_details": {"b": 2}}).json()["status_details"] == {"a": 1, "b": 2}
        assert merged["revision"] == 3
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert process.communicate() == ("", "")


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1", 421), ("0.0.0.0", 200)])  # noqa: S104 - for this test
def test_on_loopback_alone_a_foreign_name_is_refused(tmp_path: Path, host: str, status: int) -> None:
    with running("--database", str(tmp_path / "jobs.sqlite"), "--host", host) as (_, url):
        here = url.replace(host, "127.0.0.1")
        assert httpx.get(f"{here}/healthz").status_code == 200
        assert httpx.get(f"{here}/healthz", headers={"host": "evil.example"}).status_code == status


def test_the_token_may_come_from_the_environment(tmp_path: Path) -> None:
    with running("--database", str(tmp_path / "jobs.sqlite"), JOBS_SERVICE_TOKEN=TOKEN) as (process, url):
        assert httpx.get(f"{url}/healthz").status_code == 401
        assert httpx.get(f"{url}/healthz", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert invoke("show", "job-1", "--url", url)[0] == 3
        status, _, errors = invoke("show", "job-1", "--url", url, "--token", TOKEN)
        assert (status, errors) == (1, f"jobs-service: there is no job 'job-1' in {url}\n")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_what_keeps_it_from_serving_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, output, errors = invoke("serve", "--database", str(tmp_path / "jobs.sqlite"), "--port", port)
    assert (status, output) == (3, "")
    assert errors == f"jobs-service: cannot listen on 127.0.0.1:{port}: Address already in use\n"
    assert list(tmp_path.iterdir()) == []
    status, _, errors = invoke("serve", "--database", str(tmp_path), "--port", "0")
    assert status == 3
    assert "cannot use the database" in errors
    status, _, errors = invoke("serve", "--host", "no.such.host.invalid", "--port", "0")
    assert status == 3
    assert "cannot listen on no.such.host.invalid" in errors
    assert "whoever reaches no.such.host.invalid can read and write" in errors
    assert "whoever" not in invoke("serve", "--host", "no.such.host.invalid", "--token", TOKEN)[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "--rule", "append"),
        ("serve", "--port", "65536"),
        ("serve", "--max-body", "0"),
        ("serve", "--token", ""),
        ("serve", "--token", " x"),
        ("show",),
        ("show", "job-1", "--database", "jobs.sqlite", "--url", "http://127.0.0.1:1"),
        ("export", "job-1"),
        ("export", "job-1", "--csv", "--json"),
        ("delete", "job-1"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_a_usage_error(arguments: tuple[str, ...]) -> None:
    status, output, _ = invoke(*arguments)
    assert (status, output) == (2, "")


@pytest.fixture(params=["database", "url"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """How a reader reaches a service with two tasks of one job and one of another."""
    database = str(tmp_path / "jobs.sqlite")
    with live(database) as service:
        service.put({"status": "active", "status_details": {"phase": "training", "step": 2, "max_steps": 4}})
        service.append({"train_loss": [point(1, 2.5), point(2, 10**20)], 'é,"\n': [point(7, 0.1, epoch=2)]})
        service.put({"status": "error", "error_details": {"exit_status": 3}}, job="other")
        other = service.path().replace("/main", "/second")
        assert service.http.put(other, json={"status": "pending"}).status_code == 200
        yield ["--database", database] if request.param == "database" else ["--url", service.url]


def test_the_curves_of_a_job_are_shown(source: list[str]) -> None:
    status, output, errors = invoke("show", "job-1", *source)
    assert (status, errors) == (0, "")
    assert "research / job-1 / train / main  active  training  step 2 of 4" in output
    assert "research / job-1 / train / second  pending" in output
    row = next(line for line in output.splitlines() if "train_loss" in line)
    assert row.split() == ["train_loss", "2", "2", "1e+20", "2.5", "1e+20", "▁█"]
    assert "other" not in output
    assert "exit_status" in invoke("show", "other", *source)[1]
    status, output, errors = invoke("show", "nobody", *source)
    assert (status, output, errors) == (1, "", f"jobs-service: there is no job 'nobody' in {source[1]}\n")


def test_the_points_of_a_job_are_exported(source: list[str], tmp_path: Path) -> None:
    status, output, _ = invoke("export", "job-1", "--csv", *source)
    assert status == 0
    ids = ["research", "job-1", "train", "main"]
    assert list(csv.reader(io.StringIO(output))) == [
        ["workspace", "job", "step", "task", "series", "train_step", "epoch", "value"],
        [*ids, "train_loss", "1", "1", "2.5"],
        [*ids, "train_loss", "2", "1", str(10**20)],
        [*ids, 'é,"\n', "7", "2", "0.1"],
    ]
    file = tmp_path / "job.json"
    assert invoke("export", "job-1", "--json", "--output", str(file), *source) == (0, "", "")
    second, first = json.loads(file.read_text())
    assert (second["task"], second["status"], second["status_details"]) == ("second", "pending", {})
    assert first["status_details"]["phase"] == "training"
    assert first["status_details"]["metrics"]["train_loss"] == [point(1, 2.5), point(2, 10**20)]
    assert first["status_details"]["metrics"]["val_loss"] == []
    status, _, errors = invoke("export", "job-1", "--csv", "--output", str(tmp_path / "no" / "file"), *source)
    assert (status, "cannot write" in errors) == (3, True)


def test_a_reader_says_what_it_cannot_read(tmp_path: Path) -> None:
    status, output, errors = invoke("show", "job-1", "--database", str(tmp_path / "jobs.sqlite"))
    assert (status, output) == (3, "")
    assert "there is no database" in errors
    assert list(tmp_path.iterdir()) == []
    for url in ("http://127.0.0.1:1", "nonsense", "http://[", "ftp://127.0.0.1"):
        status, output, errors = invoke("export", "job-1", "--csv", "--url", url)
        assert (status, output) == (3, "")
        assert f"cannot reach {url}" in errors
    with live(str(tmp_path / "jobs.sqlite")) as service:
        status, _, errors = invoke("show", "job-1", "--url", f"{service.url}/openapi.json#")
        assert status == 3
        assert "answered" in errors
        status, _, errors = invoke("show", "no job", "--url", service.url)
        assert status == 3
        assert "422: job: " in errors
