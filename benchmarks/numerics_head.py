"""What an fp32 LM head costs: time as a ratio to the bf16 head, and bytes held beside the weight.

python benchmarks/numerics_head.py [--full] [--device cpu|cuda] [--rows 1,8,64]

Four heads on the same bf16 weight: in bf16; upcast at each call; from a cached fp32 copy; on TF32 tensor cores (CUDA
only). ``held`` is what lies in memory between calls beside the weight, ``during`` what a call allocates and gives back.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from impl.numerics.cached_head import CachedHead
from impl.numerics.fp32_linear import fp32_linear

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

QUICK = ((32768, 1024), (32768, 4096))
FULL = tuple((vocab, hidden) for vocab in (32768, 65536, 131072) for hidden in (1024, 2048, 4096))
ROWS = (1, 8, 64)
REPEATS, AT_LEAST_S = 3, 0.05
MIB = 2**20


@dataclass(frozen=True)
class Cost:
    """One head on one size.

    Attributes:
        head: which of the four.
        vocab: Rows of the weight.
        hidden: Length of the products.
        rows: Hidden states in one call.
        milliseconds: Median of a call.
        held: Bytes between calls beside the bf16 weight.
        during: Bytes that a call allocates for the weight and gives back.
    """

    head: str
    vocab: int
    hidden: int
    rows: int
    milliseconds: float
    held: int
    during: int


def heads(lm_head: nn.Linear) -> dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], int, int]]:
    """The heads by name: how each is called, bytes held, bytes allocated during a call."""
    weight, fp32_bytes = lm_head.weight, lm_head.weight.numel() * 4
    cached = CachedHead(lm_head)
    cached.refresh()
    found: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], int, int]] = {
        "bf16": (lambda x: functional.linear(x, weight), 0, 0),
        "per-call upcast": (lambda x: fp32_linear(x, weight), 0, fp32_bytes),
        "cached fp32": (cached.logits, cached.bytes_held, 0),
    }
    if weight.is_cuda:
        found["TF32"] = (lambda x: fp32_linear(x, weight, tf32=True), 0, fp32_bytes)
    return found


def timed(call: Callable[[], object], *, cuda: bool) -> float:
    """Median milliseconds of a call, after one that warms up."""

    def finished() -> None:
        call()
        if cuda:
            torch.cuda.synchronize()

    finished()
    samples = []
    for _ in range(REPEATS):
        begin, calls = time.perf_counter(), 0
        while time.perf_counter() - begin < AT_LEAST_S:
            finished()
            calls += 1
        samples.append((time.perf_counter() - begin) / calls * 1e3)
    return statistics.median(samples)


@torch.no_grad()
def measure(
    sizes: Sequence[tuple[int, int]], rows: Sequence[int], device: str, progress: Callable[[Cost], None] | None = None
) -> list[Cost]:
    """Time every head on every size, telling ``progress`` each cost as it is known."""
    costs = []
    for vocab, hidden in sizes:
        lm_head = nn.Linear(hidden, vocab, bias=False, dtype=torch.bfloat16, device=device)
        called = heads(lm_head)
        for count in rows:
            x = torch.randn(count, hidden, device=device).bfloat16()
            for name, (call, held, during) in called.items():
                spent = timed(lambda call=call, x=x: call(x), cuda=device != "cpu")
                costs.append(Cost(name, vocab, hidden, count, spent, held, during))
                if progress is not None:
                    progress(costs[-1])
    return costs


def show(costs: Sequence[Cost]) -> None:
    """Print one row a size and a column a head."""
    from rich.console import Console  # noqa: PLC0415 - measuring needs torch alone
    from rich.table import Table  # noqa: PLC0415 - as above

    names = list(dict.fromkeys(cost.head for cost in costs))
    table = Table(title=f"LM head, time relative to bf16 ({torch.get_num_threads()} threads)")
    for column in ("vocab x hidden", "rows", "bf16 ms", *names[1:], "weight MiB", "copy held MiB", "during a call MiB"):
        table.add_column(column, justify="right")
    sizes = list(dict.fromkeys((cost.vocab, cost.hidden, cost.rows) for cost in costs))
    for vocab, hidden, rows in sizes:
        by_name = {cost.head: cost for cost in costs if (cost.vocab, cost.hidden, cost.rows) == (vocab, hidden, rows)}
        base = by_name["bf16"].milliseconds
        table.add_row(
            f"{vocab} x {hidden}",
            str(rows),
            f"{base:.2f}",
            *(f"{by_name[name].milliseconds / base:.2f}" for name in names[1:]),
            f"{vocab * hidden * 2 / MIB:.0f}",
            f"{by_name['cached fp32'].held / MIB:.0f}",
            f"{by_name['per-call upcast'].during / MIB:.0f}",
        )
    Console(width=140).print(table)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What an fp32 LM head costs.")
    parser.add_argument(
        "--full", action="store_true", help="vocab 32k to 131k and hidden 1k to 4k; needs 6 GiB and minutes"
    )
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--rows", default=",".join(map(str, ROWS)), help="hidden states in one call, comma-separated")
    arguments = parser.parse_args()
    rows = [int(count) for count in arguments.rows.split(",")]
    sizes = FULL if arguments.full else QUICK
    show(measure(sizes, rows, arguments.device, lambda cost: print(cost, file=sys.stderr)))


if __name__ == "__main__":
    main()
