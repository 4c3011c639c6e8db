from __future__ import annotations

import contextlib
import threading
from typing import Any

import pytest
import torch

from impl.numerics.fp32_linear import fp32_linear
from impl.numerics.matmul_precision import fp32_matmul_precision


def flag() -> Any:
    return torch.backends.cuda.matmul.fp32_precision


@pytest.mark.parametrize("tf32", [False, True])
@pytest.mark.parametrize("before", ["none", "ieee", "tf32"])
def test_the_flag_returns_even_after_an_exception(before: str, *, tf32: bool) -> None:
    original = flag()
    torch.backends.cuda.matmul.fp32_precision = before
    try:
        with (
            pytest.raises(RuntimeError, match="inside " + ("tf32" if tf32 else "ieee")),
            fp32_matmul_precision(tf32=tf32),
        ):
            raise RuntimeError(f"inside {flag()}")
        assert flag() == before
    finally:
        torch.backends.cuda.matmul.fp32_precision = original


def test_the_older_interface_still_reads_afterwards() -> None:
    with fp32_matmul_precision(tf32=True):
        pass
    assert torch.backends.cuda.matmul.allow_tf32 is False
    assert torch.get_float32_matmul_precision() == "highest"


def test_threads_that_fail_now_and_then_never_leave_the_flag_changed() -> None:
    before, wrong = flag(), []
    start = threading.Barrier(4)

    def work(*, tf32: bool) -> None:
        start.wait()
        for turn in range(300):
            with contextlib.suppress(ZeroDivisionError), fp32_matmul_precision(tf32=tf32):
                if flag() != ("tf32" if tf32 else "ieee"):
                    wrong.append(tf32)
                1 / (turn % 3)

    threads = [threading.Thread(target=work, kwargs={"tf32": i % 2 == 0}) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert flag() == before


@pytest.mark.parametrize("tf32", [False, True])
def test_the_flag_is_set_for_forward_and_backward_gemms_only(monkeypatch: pytest.MonkeyPatch, *, tf32: bool) -> None:
    seen = []
    original = torch.nn.functional.linear
    monkeypatch.setattr("torch.nn.functional.linear", lambda *a: (seen.append(flag()), original(*a))[1])
    x = torch.randn(3, 4, dtype=torch.bfloat16, requires_grad=True)
    weight = torch.randn(5, 4, dtype=torch.bfloat16, requires_grad=True)
    out = fp32_linear(x, weight, tf32=tf32)
    assert flag() == "none"

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func in (torch.Tensor.matmul, torch.Tensor.__matmul__):
                seen.append(flag())
            return func(*args, **(kwargs or {}))

    with Watch():
        out.sum().backward()
    assert seen
    assert set(seen) == {"tf32" if tf32 else "ieee"}
    assert flag() == "none"


def test_a_failing_gemm_restores_the_flag() -> None:
    with pytest.raises(RuntimeError):
        fp32_linear(torch.randn(3, 4), torch.randn(5, 6), tf32=True)
    assert flag() == "none"
