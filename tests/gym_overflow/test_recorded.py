"""An endpoint recorded once and replayed without it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from contracts import gym_overflow, verify, verify_mutants
from contracts.gym_overflow.recorded import Recorded, RecordingError
from contracts.gym_overflow.recording import Recording, record
from impl.gym_overflow.adapter import endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from contracts.report.report import Report


@dataclass(frozen=True)
class Said:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Scripted:
    """An endpoint that says what it is told to, in order."""

    say: Callable[[int, Any], bytes]
    name: str = "scripted"
    version: str = "3"
    capabilities: frozenset[str] = frozenset()
    model: str | None = "m"
    window: int | None = 9
    count_tokens: Any = None
    closed: bool = False
    asked: list[Any] = field(default_factory=list)

    def request(self, method: str, path: str, *, json: Any = None, content: Any = None, headers: Any = None) -> Said:
        self.asked.append((method, path, json, content, headers))
        return Said(200, {"content-type": "text/plain"}, self.say(len(self.asked), json))

    def close(self) -> None:
        self.closed = True


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    path = tmp_path_factory.mktemp("recorded") / "reference.jsonl"
    with endpoint() as live:
        return path, record(live, path)


def outcomes(report: Report) -> dict[str, str]:
    return {result.check: str(result.outcome) for result in report.results}


def test_the_replay_has_the_verdicts_of_the_recording(recording: tuple[Path, Report]) -> None:
    path, live = recording
    replayed = verify(gym_overflow.endpoint, Recorded(path))
    assert set(outcomes(live).values()) == {"passed"}
    assert outcomes(replayed) == outcomes(live)


def test_every_mutant_is_killed_on_the_replay(recording: tuple[Path, Report]) -> None:
    report = verify_mutants(gym_overflow.endpoint, Recorded(recording[0]))
    assert {mutant.mutant for mutant in report.mutants} == {mutant.id for mutant in gym_overflow.endpoint.mutants}
    assert [(mutant.mutant, mutant.reason) for mutant in report.mutants if mutant.proof != "killed"] == []


def test_a_recorded_failure_fails_again(tmp_path: Path) -> None:
    only = {"GO-101", "GO-103"}
    path = tmp_path / "broken.jsonl"
    mutant = next(mutant for mutant in gym_overflow.endpoint.mutants if mutant.id == "GO-M101a")
    with Recording(mutant.wrap(endpoint()), path) as broken:
        live = verify(gym_overflow.endpoint, broken, only=only, profile="smoke")
    replayed = verify(gym_overflow.endpoint, Recorded(path), only=only, profile="smoke")
    assert outcomes(live) == {"GO-101": "failed", "GO-103": "failed"}
    assert [result.failure for result in replayed.results] == [result.failure for result in live.results]


def test_facts_and_counts_are_kept(tmp_path: Path) -> None:
    scripted = Scripted(
        lambda *_: b"", capabilities=frozenset({"n", "streaming"}), count_tokens=lambda _, body: len(body)
    )
    with Recording(scripted, tmp_path / "r.jsonl") as live:
        assert live.count_tokens("/v1/chat/completions", {"a": 1, "b": 2}) == 2
    replayed = Recorded(tmp_path / "r.jsonl")
    facts = ("name", "version", "capabilities", "model", "window")
    assert [getattr(replayed, fact) for fact in facts] == [getattr(scripted, fact) for fact in facts]
    assert replayed.count_tokens("/v1/chat/completions", {"a": 1, "b": 2}) == 2
    assert scripted.closed


def test_an_endpoint_that_cannot_count_stays_one(tmp_path: Path) -> None:
    Recording(Scripted(lambda *_: b"", window=None, model=None), tmp_path / "r.jsonl").close()
    replayed = Recorded(tmp_path / "r.jsonl")
    assert replayed.count_tokens is None
    assert replayed.window is None


@pytest.mark.parametrize("body", [b"", b"plain", "d\u00e9j\u00e0".encode(), b"\xff\xfe\x00raw", b"\xef\xbb\xbfbom\r\n"])
def test_bodies_survive_byte_by_byte(tmp_path: Path, body: bytes) -> None:
    with Recording(Scripted(lambda *_: body), tmp_path / "r.jsonl") as live:
        live.request("POST", "/p", content=body, headers={"content-type": "x"})
    answer = Recorded(tmp_path / "r.jsonl").request("POST", "/p", content=body, headers={"content-type": "x"})
    assert (answer.status, answer.headers, answer.body) == (200, {"content-type": "text/plain"}, body)


def test_an_internal_fault_is_told_from_the_plain_request(tmp_path: Path) -> None:
    body = {"model": "reference", "messages": [{"role": "user", "content": "hello"}]}
    with Recording(endpoint(), tmp_path / "r.jsonl") as live:
        assert live.internal_fault("boom", "POST", "/v1/chat/completions", body).status == 500
    replayed = Recorded(tmp_path / "r.jsonl")
    assert replayed.internal_fault("boom", "POST", "/v1/chat/completions", body).status == 500
    with pytest.raises(RecordingError):
        replayed.request("POST", "/v1/chat/completions", json=body)
    with pytest.raises(RecordingError):
        replayed.internal_fault("another", "POST", "/v1/chat/completions", body)


def test_repeated_requests_get_their_answers_in_order_and_then_the_last(tmp_path: Path) -> None:
    with Recording(Scripted(lambda number, _: str(number).encode()), tmp_path / "r.jsonl") as live:
        for _ in range(3):
            live.request("GET", "/v1/models")
    replayed = Recorded(tmp_path / "r.jsonl")
    assert [replayed.request("GET", "/v1/models").body for _ in range(5)] == [b"1", b"2", b"3", b"3", b"3"]


def test_requests_from_several_threads_are_all_recorded(tmp_path: Path) -> None:
    echo = Scripted(lambda _, json: str(json["n"]).encode() * 2000)
    with Recording(echo, tmp_path / "r.jsonl") as live, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: live.request("POST", "/p", json={"n": n}), range(200)))
    replayed = Recorded(tmp_path / "r.jsonl")
    with ThreadPoolExecutor(8) as pool:
        bodies = list(pool.map(lambda n: replayed.request("POST", "/p", json={"n": n}).body, range(200)))
    assert bodies == [str(n).encode() * 2000 for n in range(200)]


def test_an_unrecorded_request_says_to_record_again(tmp_path: Path) -> None:
    Recording(Scripted(lambda *_: b""), tmp_path / "r.jsonl").close()
    with pytest.raises(RecordingError, match=r"r\.jsonl holds no answer to POST /v1/chat.*record again"):
        Recorded(tmp_path / "r.jsonl").request("POST", "/v1/chat/completions", json={"model": "m"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read the recording"),
        ("", "is empty; record again"),
        ("{", r":1: not JSON, as if cut off"),
        ('{"status": 400}', r":1: no recording of this format"),
        ("[]", r":1: no recording of this format"),
        ('{"format": "rl-contracts endpoint recording 1", "name": "x"}', r":1: .*lacks"),
    ],
)
def test_a_file_that_is_no_recording_is_one_clear_error(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "r.jsonl"
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises(RecordingError, match=message):
        Recorded(path)


@pytest.mark.parametrize("cut", [1, 40])
def test_a_recording_that_was_cut_off_names_its_line(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "r.jsonl"
    with Recording(Scripted(lambda *_: b""), path) as live:
        live.request("GET", "/v1/models")
    path.write_bytes(path.read_bytes().rstrip()[:-cut])
    with pytest.raises(RecordingError, match=r"r\.jsonl:2: not JSON, as if cut off"):
        Recorded(path)


def test_the_command_line_records_and_replays(tmp_path: Path) -> None:
    """Recorded in one process and replayed in another, through the same door."""
    (tmp_path / "acme.py").write_text(
        "from contracts.gym_overflow.recorded import Recorded\n"
        "from contracts.gym_overflow.recording import Recording\n"
        "from impl.gym_overflow.adapter import endpoint\n"
        "def live():\n    return Recording(endpoint(), 'acme.jsonl')\n"
        "def replayed():\n    return Recorded('acme.jsonl')\n"
    )
    for factory in ("live", "replayed"):
        command = [sys.executable, "-m", "contracts", "run", "gym_overflow.endpoint", "--adapter", f"acme:{factory}"]
        command += ["--only", "GO-101,GO-115,GO-202,GO-312"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
        assert ran.stdout.splitlines()[-1] == "4 passed, 0 failed, 0 known, 0 skipped"
