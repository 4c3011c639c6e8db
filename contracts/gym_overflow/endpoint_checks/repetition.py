"""13x: a refusal leaves nothing behind."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from contracts.gym_overflow import sources
from contracts.gym_overflow.judging import shown
from contracts.gym_overflow.probe import Route, body_of
from contracts.gym_overflow.refusal import STATUS
from contracts.gym_overflow.sides import endpoint
from contracts.gym_overflow.window_probes import FULL, ONE_OVER, ROOM_FOR_ONE

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

OK = 200
_AT_ONCE = 8


@endpoint.check("GO-131", source=sources.RETRIES, examples=(2, 5))
def repeated_requests_get_the_same_verdict(check: Check[Endpoint], adapter: Endpoint, case: int) -> None:
    """However often an overflow is repeated, the verdict is the same, and the next request that fits is served.

    Why: a retried rollout that gets another answer is counted as infrastructure trouble and dispatched again.

    Usual cause: a request that failed leaves its slot or its cache entry behind.
    """
    bodies = [body_of(adapter, probe) for probe in (FULL, ROOM_FOR_ONE)]
    answers = [adapter.request("POST", Route.CHAT, json=body) for _ in range(case) for body in bodies]
    statuses = [answer.status for answer in answers]
    if statuses != [STATUS, OK] * case:
        odd = next(answer for answer, want in zip(answers, [STATUS, OK] * case, strict=True) if answer.status != want)
        raise check.fail("the verdict changed on repetition", got=statuses, want=[STATUS, OK] * case, first=shown(odd))


@endpoint.check("GO-132", source=sources.RETRIES)
def concurrent_requests_get_the_same_verdict(check: Check[Endpoint], adapter: Endpoint) -> None:
    """Requests that arrive at once get the verdict that each gets alone.

    Why: a rollout worker sends hundreds at once; a verdict that depends on the neighbours cannot be reproduced.

    Usual cause: the count of one request is kept where another request reads it.
    """
    bodies = [body_of(adapter, probe) for probe in (FULL, ROOM_FOR_ONE, ONE_OVER)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = list(pool.map(lambda body: adapter.request("POST", Route.CHAT, json=body), bodies * _AT_ONCE))
    statuses = [answer.status for answer in answers]
    want = [STATUS, OK, STATUS] * _AT_ONCE
    if statuses != want:
        raise check.fail("concurrent requests got other verdicts", got=statuses, want=want)
