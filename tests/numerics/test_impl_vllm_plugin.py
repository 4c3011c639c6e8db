"""The plugin without vLLM: what it does not do while it is off, and what it says while it is on."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest

from impl.numerics.vllm import plugin
from impl.numerics.vllm.native_head import fp32_overrides, with_fp32_head
from impl.numerics.vllm.replaced_methods import ReplacedMethods
from impl.numerics.vllm.switch import STRATEGY, SWITCH, HeadSwitchError

COSTS = """
import sys
from impl.numerics.vllm.plugin import register
register()
print([name for name in ("vllm", "torch", "numpy", "pydantic", "filelock", "safetensors") if name in sys.modules])
"""


def test_it_is_an_entry_point_of_vllms_group() -> None:
    (found,) = importlib.metadata.entry_points(group="vllm.general_plugins", name=plugin.NAME)
    assert found.load() is plugin.register


@pytest.mark.parametrize("value", [None, "0", ""])
def test_off_it_loads_nothing(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH, raising=False)
    if value is not None:
        monkeypatch.setenv(SWITCH, value)
    done = subprocess.run([sys.executable, "-c", COSTS], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert done.stdout.strip() == "[]"


def test_a_switch_that_cannot_be_read_stops_the_process_that_loads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "yes")
    with pytest.raises(HeadSwitchError, match=SWITCH):
        plugin.register()
    monkeypatch.setenv(SWITCH, "1")
    monkeypatch.setenv(STRATEGY, "magic")
    with pytest.raises(HeadSwitchError, match=STRATEGY):
        plugin.register()


class Owner:
    def method(self) -> str:
        return "original"


class Inheritor(Owner):
    pass


def test_replaced_methods_come_back_as_the_same_objects() -> None:
    before = vars(Owner)["method"]
    replaced = ReplacedMethods()
    replaced.replace(Owner, "method", lambda original: lambda self: f"new {original(self)}")
    replaced.replace(Owner, "method", lambda original: lambda self: f"newer {original(self)}")
    assert Owner().method() == "newer new original"
    replaced.restore()
    assert vars(Owner)["method"] is before
    with pytest.raises(AttributeError, match="Inheritor defines no method: this vLLM is built differently"):
        replaced.replace(Inheritor, "method", lambda original: original)


class Config:
    head_dtype: str | None = None
    other: int = 0


def _other(config: Config) -> Config:
    config.other = 7
    return config


def test_overrides_keep_what_the_caller_gave(caplog: pytest.LogCaptureFixture) -> None:
    assert fp32_overrides({}) is with_fp32_head
    config = fp32_overrides(_other)(Config())
    assert (config.other, config.head_dtype) == (7, "float32")
    assert not caplog.records
    assert fp32_overrides({"other": 7}) == {"other": 7, "head_dtype": "float32"}
    assert "drafter" in caplog.text
