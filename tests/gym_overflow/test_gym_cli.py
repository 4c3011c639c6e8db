"""`contracts gym` and `contracts run gym_overflow --gym`, as processes: what they print and how they exit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from contracts.gym_overflow.gym import default_cache, load_gym, pinned_releases

CHAT = "/v1/chat/completions"
ROOT = Path(__file__).parents[2]
BODY = '{"error":{"message":"max_tokens must be at least 1, got 0."}}'
SOURCE = load_gym("0.7.0").text


def contracts(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "contracts", *arguments]
    given = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True, check=False)  # noqa: S603 - our own command


def one_error(ran: subprocess.CompletedProcess[str]) -> str:
    """The one error that a command ended with, no traceback before or after it."""
    lines = ran.stderr.strip().splitlines()
    errors = [number for number, line in enumerate(lines) if line.startswith("error: ")]
    assert len(errors) == 1, ran.stderr
    assert "Traceback" not in ran.stderr + ran.stdout
    return " ".join(lines[errors[0] :])


def test_a_verdict_names_every_site_and_prints_the_expression() -> None:
    ran = contracts("gym", "verdict", "--gym", "0.7.0", "--status", "400", "--body", BODY)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.findall(r"app\.py:(\d+) \w[\w.]*: overflow", ran.stdout) == ["988", "1323"]
    assert ran.stdout.count('"context length" in result_content_str or "max_tokens" in result_content_str') == 2
    assert ran.stdout.count('finish_reason "length", unless propagate_context_overflow_errors is set') == 2
    assert ran.stdout.splitlines()[-1] == "NeMo Gym 0.7.0: overflow"


def test_another_status_is_no_overflow() -> None:
    ran = contracts("gym", "verdict", "--gym", "0.2.0", "--status", "500", "--body", BODY)
    assert ran.returncode == 0
    assert re.findall(r"app\.py:(\d+) \w[\w.]*: not an overflow", ran.stdout) == ["332"]
    assert ran.stdout.splitlines()[-1] == "NeMo Gym 0.2.0: not an overflow"


def test_sites_that_disagree_are_said_to(tmp_path: Path) -> None:
    """The second site is reworded, as a hurried edit would leave it."""
    first, site = SOURCE.rpartition('"max_tokens" in result_content_str')[::2]
    (tmp_path / "app.py").write_text(f'{first}"tokens_max" in result_content_str{site}')
    ran = contracts("gym", "verdict", "--gym", str(tmp_path / "app.py"), "--status", "400", "--body", BODY)
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1].endswith(": the sites disagree")


def test_a_diff_names_what_changed() -> None:
    ran = contracts("gym", "diff", "0.2.0", "0.7.0")
    assert (ran.returncode, ran.stderr) == (0, "")
    for word in ("propagate_context_overflow_errors", "stop", "length", "332", "988", "1323"):
        assert word in ran.stdout, word


def test_a_replay_ends_in_one_line_of_totals(tmp_path: Path) -> None:
    right = {"status": 400, "body": BODY, "kind": "not_overflow", "gym_verdict": {"0.7.0": True}, "endpoint": CHAT}
    wrong = {**right, "gym_verdict": {"0.7.0": False}}
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps(right) + "\n")
    ran = contracts("gym", "replay", str(corpus), "--gym", "0.7.0")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1] == "1 rows, 0 missed overflows (0 measured), 1 false alarms, 0 disagreements"
    corpus.write_text(json.dumps(right) + "\n" + json.dumps(wrong) + "\n")
    ran = contracts("gym", "replay", str(corpus), "--gym", "0.7.0")
    assert ran.returncode == 1
    assert "DISAGREEMENTS WITH THE RECORDED VERDICT: 1\n  row 2" in ran.stdout
    ran = contracts("gym", "replay", str(corpus), "--gym", "0.7.0", "--through", "reference")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1] == "2 rows, 0 missed overflows (0 measured), 0 false alarms, 0 disagreements"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--through", "nothing"), "--through takes 'reference', got 'nothing'"),
        ((), "corpus.jsonl:1: no row of a corpus: status: Input should be a valid integer"),
    ],
)
def test_a_replay_that_was_called_wrongly_is_a_usage_error(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"status": "400", "body": "", "kind": "overflow", "gym_verdict": {"0.7.0": true}}')
    ran = contracts("gym", "replay", str(corpus), "--gym", "0.7.0", *arguments)
    assert ran.returncode == 2
    assert message in one_error(ran)


def renamed(folder: Path) -> str:
    (folder / "app.py").write_text(SOURCE.replace("is_out_of_context_length", "is_context_overflow"))
    return str(folder / "app.py")


def calling(folder: Path) -> str:
    (folder / "app.py").write_text(SOURCE.replace("e.status == 400", "__import__('os').system('touch ran') == 400"))
    return str(folder / "app.py")


def without_the_file(folder: Path) -> str:
    wheel = folder / "nemo_gym-0.7.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("nemo_gym/__init__.py", "raise SystemExit('executed')")
    return str(wheel)


def no_release(_folder: Path) -> str:
    return "99.99.99"


def not_python(folder: Path) -> str:
    (folder / "app.py").write_text("def broken(:\n")
    return str(folder / "app.py")


def missing(folder: Path) -> str:
    return str(folder / "nowhere.whl")


BROKEN = {
    renamed: r"is_out_of_context_length.*app\.py",
    calling: r"app\.py:\d+",
    without_the_file: r"nemo_gym-0\.7\.0.*app\.py",
    no_release: r"nemo-gym 99\.99\.99.*there is no such release",
    not_python: r"app\.py",
    missing: r"nowhere\.whl",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
@pytest.mark.parametrize("command", ["verdict", "run"])
def test_a_gym_that_cannot_be_read_is_one_clear_error(tmp_path: Path, command: str, broken: object) -> None:
    assert callable(broken)
    spec = broken(tmp_path)
    verdict = ("gym", "verdict", "--gym", spec, "--status", "400", "--body", "x")
    run = ("run", "gym_overflow", "--gym", spec, "--profile", "smoke")
    ran = contracts(*(verdict if command == "verdict" else run), cwd=tmp_path)
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert re.search(BROKEN[broken], one_error(ran)), ran.stderr
    assert not (tmp_path / "ran").exists()


def test_without_a_network_there_is_one_clear_error(tmp_path: Path) -> None:
    """Nothing is found nothing by pip at a port where nothing listens, and the cache is empty."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    offline = {**proxies, "NO_PROXY": "", "no_proxy": "", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
    offline |= {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": ""}
    ran = contracts("run", "gym_overflow.endpoint", "--gym", "0.4.0", CONTRACTS_CACHE=str(tmp_path), **offline)
    assert ran.returncode == 3
    assert re.search(r"nemo-gym 0\.4\.0.*(no network|give the path of a wheel)", one_error(ran)), ran.stderr


def test_a_cached_release_needs_no_network() -> None:
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    load_gym("0.4.0")
    arguments = ("gym", "verdict", "--gym", "0.4.0", "--status", "400", "--body", "max_tokens")
    ran = contracts(*arguments, CONTRACTS_CACHE=str(default_cache()), **proxies)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_an_unpinned_source_is_said_to_be_read(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("\n" + SOURCE)
    arguments = ("run", "gym_overflow.classifier", "--gym", str(tmp_path / "app.py"), "--profile", "smoke")
    ran = contracts(*arguments)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "is not pinned by hash; read" in ran.stderr
    assert "sites at lines 989, 1324" in ran.stderr
    assert re.fullmatch(r"\d+ passed, 0 failed, 0 known, 1 skipped", ran.stdout.splitlines()[-1])


def test_a_gym_whose_verdict_changed_fails_the_run(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SOURCE.replace('"context length" in', '"context window" in'))
    arguments = ("run", "gym_overflow.classifier", "--gym", str(tmp_path / "app.py"), "--only", "GO-513")
    ran = contracts(*arguments)
    assert ran.returncode == 1
    assert "GO-513 a measured answer has another verdict" in ran.stdout
    assert ran.stdout.splitlines()[-1] == "0 passed, 1 failed, 0 known, 0 skipped"


def test_several_gyms_are_columns_of_one_table() -> None:
    ran = contracts("run", "gym_overflow.classifier", "--gym", "0.2.0,0.7.0", "--only", "GO-501,GO-521")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1] == "4 passed, 0 failed, 0 known, 0 skipped"
    assert re.search(r"claim +\| 0\.2\.0 +\| 0\.7\.0", ran.stdout)


def test_the_mutants_of_the_classifier_are_all_killed() -> None:
    ran = contracts("mutants", "gym_overflow.classifier", "--gym", "0.7.0")
    assert ran.returncode == 0
    assert re.fullmatch(r"\d+ killed, 0 survived, 0 inconclusive", ran.stdout.splitlines()[-1])


def test_the_list_holds_every_check_of_the_room() -> None:
    ran = contracts("list", "gym_overflow")
    assert ran.returncode == 0
    assert {"GO-101", "GO-401", "GO-523"} <= set(re.findall(r"GO-\d{3}", ran.stdout))
    assert len(pinned_releases()) == 9
