"""Where the rules of this room come from."""

from __future__ import annotations

from contracts.source import Source


def loops(fact: str) -> Source:
    """A fact about NeMo-RL's training loops."""
    return Source("NVIDIA-NeMo/RL nemo_rl/algorithms/{grpo,dpo,sft,ppo}.py", fact)


def composite(fact: str) -> Source:
    """A fact about NeMo-RL's logger interface."""
    return Source("NVIDIA-NeMo/RL nemo_rl/utils/logger.py", fact)


def fixed(fact: str) -> Source:
    """A fact that the fix of the GRPO metrics established."""
    return Source("NeMo Platform pull request 1264, fix(rl): GRPO training metrics", fact)


def service(fact: str) -> Source:
    """A fact about the Jobs service and the chart that reads it."""
    return Source("NeMo Platform Jobs API v2, PUT and GET of a task", fact)


def jobs(fact: str) -> Source:
    """A fact about what a Jobs service promises to those who report to it."""
    return Source("NeMo Platform Jobs API v2, tasks; pull request 1264, fix(rl): GRPO training metrics", fact)


DECLARED = Source("contracts.metrics_wire.sides", "what a capability means where it is not declared")
