"""One batch: the rollout engine samples, both sides look at the same tokens."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics.observation import running
from contracts.numerics.oracle import Head, body_gap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.numerics.cases import ParityCase
    from contracts.numerics.protocols import F32, F64, Engine, EnginePair, HeadMode


@dataclass(frozen=True)
class Batch:
    """What both engines said of the tokens that the rollout engine sampled.

    Attributes:
        sequences: prompts and continuations.
        prompt: tokens of each prompt.
        lp_gen: logprobs of the sampled tokens when they were sampled, ``[sequences, generated]``.
        lp_score: the rollout engine's, scoring the same tokens afterwards.
        lp_train: the trainer's.
    """

    sequences: tuple[tuple[int, ...], ...]
    prompt: int
    lp_gen: F64
    lp_score: F64
    lp_train: F64


def weights_of(pair: EnginePair, case: ParityCase) -> Mapping[str, F32]:
    """The checkpoint of a case."""
    return pair.rollout.checkpoint(case.seed)


def play(pair: EnginePair, case: ParityCase, *, train: HeadMode = "fp32", rollout: HeadMode = "fp32") -> Batch:
    """Start both engines on one checkpoint, sample, and score on both sides."""
    weights = weights_of(pair, case)
    with ExitStack() as stack:
        generator = stack.enter_context(running(pair.rollout, weights, rollout))
        scorer = stack.enter_context(running(pair.train, weights, train))
        return sample_and_score(pair, case, generator, scorer)


def sample_and_score(pair: EnginePair, case: ParityCase, generator: Engine, scorer: Engine) -> Batch:
    """Sample on one engine and score on both."""
    rng = np.random.default_rng(case.seed)
    prompts = rng.integers(0, pair.rollout.vocab, (case.sequences, case.prompt)).tolist()
    samples = generator.generate(prompts, max_tokens=case.generated, seed=case.seed)
    sequences = tuple((*prompt, *sample.tokens) for prompt, sample in zip(prompts, samples, strict=True))
    return Batch(
        sequences,
        case.prompt,
        np.array([sample.logprobs for sample in samples], dtype=np.float64),
        generated_part(generator.score(sequences), case.prompt),
        generated_part(scorer.score(sequences), case.prompt),
    )


def generated_part(scored: Sequence[F64], prompt: int) -> F64:
    """Cut the prompts' own tokens: logprobs start at the second token, the sampled ones after the prompt."""
    return np.array([np.asarray(row, dtype=np.float64)[prompt - 1 :] for row in scored])


@dataclass(frozen=True)
class Bodies:
    """What both engines' bodies made of the same tokens.

    Attributes:
        gaps: ``lp_gen - lp_train`` of each sequence by exact heads on each side's hidden states, in nats.
        logits: the rollout engine's logits of the same tokens, of each sequence.
    """

    gaps: list[F64]
    logits: list[F64]


def bodies(pair: EnginePair, weights: Mapping[str, F32], sequences: Sequence[Sequence[int]], prompt: int = 1) -> Bodies:
    """Run both bodies over sequences.

    Args:
        pair: the engines.
        weights: what both are started on.
        sequences: token ids.
        prompt: tokens at the start of each sequence that are left out.
    """
    exact = Head.of(weights)
    found = Bodies([], [])
    with running(pair.rollout, weights) as generator, running(pair.train, weights) as scorer:
        for tokens in sequences:
            mine, theirs = generator.prefill(tokens), scorer.prefill(tokens)
            found.gaps.append(body_gap(mine, theirs, exact, tokens)[prompt - 1 :])
            taken = mine.logits[np.arange(len(tokens) - 1), list(tokens[1:])]
            found.logits.append(taken[prompt - 1 :].astype(np.float64))
    return found


def body_gaps(
    pair: EnginePair, weights: Mapping[str, F32], sequences: Sequence[Sequence[int]], prompt: int = 1
) -> list[F64]:
    """The gaps of `bodies`."""
    return bodies(pair, weights, sequences, prompt).gaps


def largest(gaps: Sequence[F64]) -> float:
    """The largest gap of any token."""
    return max(float(np.abs(gap).max()) for gap in gaps)
