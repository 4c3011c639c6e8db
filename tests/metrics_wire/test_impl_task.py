from __future__ import annotations

import pytest

from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.task import TaskAddress

URL = "https://host:8000/base/apis/jobs/v2/workspaces/ws/jobs/job-7/steps/train/tasks/main"


def test_a_url_is_read_and_written() -> None:
    address = TaskAddress.parse(URL)
    assert address == TaskAddress("https://host:8000/base", "ws", "job-7", "train", "main")
    assert address.url == URL
    assert TaskAddress.parse(f"{URL}/").url == URL


def test_ids_are_escaped_on_the_wire() -> None:
    address = TaskAddress.parse(URL.replace("job-7", "a%20b%2Fc"))
    assert address.job == "a b/c"
    assert "a%20b%2Fc" in address.url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "job-7",
        "host/apis/jobs/v2/workspaces/ws/jobs/j/steps/s/tasks/t",
        "ftp://host/apis/jobs/v2/workspaces/ws/jobs/j/steps/s/tasks/t",
        "http:///apis/jobs/v2/workspaces/ws/jobs/j/steps/s/tasks/t",
        "http://host:port/apis/jobs/v2/workspaces/ws/jobs/j/steps/s/tasks/t",
        "http://[::1/apis/jobs/v2/workspaces/ws/jobs/j/steps/s/tasks/t",
        "http://host/apis/jobs/v2/workspaces/ws/jobs/j/steps/s",
        "http://host/apis/jobs/v2/workspaces/ws/jobs//steps/s/tasks/t",
        "http://host/apis/jobs/v1/workspaces/ws/jobs/j/steps/s/tasks/t",
    ],
)
def test_what_is_no_task_url_is_refused_at_construction(url: str) -> None:
    with pytest.raises(ValueError, match="is no task URL"):
        JobsServiceProgressReporter(url)


@pytest.mark.parametrize(
    "job", ["none", "NULL", "unknown", "placeholder", "local", "%3Cjob%3E", "$JOB_ID", "your-job-id"]
)
def test_a_placeholder_job_reports_nothing(job: str) -> None:
    reporter = JobsServiceProgressReporter(URL.replace("job-7", job))
    assert not reporter.enabled
    assert reporter.update_task("active") is False
    reporter.close()


@pytest.mark.parametrize("job", ["job-7", "nonesuch", "local-training-3", "5f2b"])
def test_a_real_job_is_no_placeholder(job: str) -> None:
    assert not TaskAddress.parse(URL.replace("job-7", job)).is_placeholder


def test_the_environment_names_the_task() -> None:
    reporter = JobsServiceProgressReporter.from_environment({"NEMO_JOBS_TASK_URL": URL})
    assert reporter.enabled
    reporter.close()
    second = JobsServiceProgressReporter.from_environment({"NEMO_JOBS_TASK_URL": URL, "RANK": "1"})
    assert not second.enabled
    second.close()


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "NEMO_JOBS_TASK_URL is missing: set it to the URL of the task"),
        ({"NEMO_JOBS_TASK_URL": ""}, "NEMO_JOBS_TASK_URL is missing"),
        ({"NEMO_JOBS_TASK_URL": "nonsense"}, "NEMO_JOBS_TASK_URL cannot be used: 'nonsense' is no task URL"),
        ({"NEMO_JOBS_TASK_URL": URL, "RANK": "-1"}, "RANK must be a rank"),
    ],
)
def test_what_the_environment_lacks_is_said(environment: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JobsServiceProgressReporter.from_environment(environment)
