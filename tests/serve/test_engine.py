"""One engine, many requests: the same answers, fair turns, failures and departures contained."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import torch

import focore
from focore.decoding.loop import Batch
from focore.errors import DecodingError
from focore.generation import Plan, Runner, finish, row_seeds
from focore.loading import Model
from focore.serve.engine import Engine
from focore.serve.errors import ApiError
from focore.serve.limits import Limits
from focore.serve.metrics import Metrics
from focore.serve.tickets import Job, News, Ticket, Want
from focore.serve.waiting import Waiting
from tests.support import random_model

METHODS: dict[str, dict[str, Any]] = {
    "random": {"temperature": 1.0, "gen_length": 9},
    "confidence": {"gen_length": 14, "block_length": 4},
    "margin": {"gen_length": 7, "top_k": 3, "temperature": 0.5},
    "cfg": {"gen_length": 12, "steps": 6},
    "acfg": {"gen_length": 10},
    "klass": {"gen_length": 16},
    "prophet": {"gen_length": 10, "answer_start": 2},
    "soar": {"gen_length": 12, "beam_width": 3},
    "focore": {"gen_length": 20, "core_tokens": 3, "temperature": 0.7},
    "focore_a": {"gen_length": 18, "burst": "repeat", "stop_at_eos": True},
    "threshold": {"gen_length": 11, "cache": "none"},
}
Work = Callable[[Engine], Coroutine[Any, Any, None]]


@pytest.fixture(scope="module")
def exact() -> Model:
    """In float64, where rounding decides nothing."""
    return random_model()


def job(model: Model, prompt: list[int], method: str, **options: Any) -> Job:
    want = options.pop("want", Want.TEXT)
    plan = Plan.make(model, method, options.pop("seed", 0), options)
    row = plan.continuation(prompt, None)
    return Job(plan, row, row_seeds(plan.seed, [row])[0], want)


def run(work: Work, **limits: Any) -> Engine:
    """Do something with an engine of one's own."""
    engine = Engine(Limits(**limits), Metrics())
    engine.start()
    try:
        asyncio.run(asyncio.wait_for(work(engine), 120))
    finally:
        engine.stop()
    return engine


async def last(ticket: Ticket, bell: asyncio.Event) -> News:
    while True:
        news = ticket.news()
        if news and news.done:
            return news
        await bell.wait()
        bell.clear()


async def answers(engine: Engine, jobs: list[Job]) -> list[News]:
    bells = [asyncio.Event() for _ in jobs]
    tickets = [engine.submit([one], bell)[0] for one, bell in zip(jobs, bells, strict=True)]
    return [await last(ticket, bell) for ticket, bell in zip(tickets, bells, strict=True)]


@pytest.mark.parametrize("want", [Want.END, Want.TEXT, Want.STEPS])
def test_all_methods_at_once_give_what_each_gives_alone(exact: Model, want: Want) -> None:
    prompts = [[3, 5, 7], [9, 2, 11, 4, 6, 8, 1]]
    asked = [(p, m, o) for p in prompts for m, o in METHODS.items()]

    async def work(engine: Engine) -> None:
        jobs = [job(exact, p, m, seed=2, want=want, **o) for p, m, o in asked]
        for (prompt, method, options), news in zip(asked, await answers(engine, jobs), strict=True):
            alone = focore.generate(exact, prompt, method=method, seed=2, **options)
            assert news.tokens == alone.tokens, method
            assert (news.tally.steps, news.tally.passes) == (alone.steps, alone.passes), method

    run(work, rows=6)


def test_rows_of_other_lengths_share_a_lane(exact: Model) -> None:
    async def work(engine: Engine) -> None:
        jobs = [job(exact, [3] * n, "confidence", gen_length=2 * n) for n in range(1, 9)]
        await answers(engine, jobs)

    engine = run(work)
    assert engine.metrics.value("focore_step_rows_sum", {}) == sum(2 * n for n in range(1, 9))
    assert engine.metrics.value("focore_step_rows_count", {}) <= 20  # 16 if all come at once


def test_a_row_without_a_mask_is_done_at_once(exact: Model) -> None:
    async def work(engine: Engine) -> None:
        whole = job(exact, [3], "confidence", gen_length=2, prefix=[4, 5])
        (news,) = await answers(engine, [whole])
        assert news.tokens == [4, 5] and news.tally.steps == 0

    run(work)


def test_rows_that_leave_change_nothing_for_the_others(exact: Model) -> None:
    plan = Plan.make(exact, "focore", 0, {"gen_length": 12, "temperature": 0.5})
    rows = [plan.continuation([n, n + 1], None) for n in range(2, 7)]
    alone = finish(plan, rows, 8)
    runner = Runner(plan)
    runner.admit(rows, row_seeds(0, rows), range(5))
    found: dict[int, list[int]] = {}
    for index in range(12):
        if index == 4:
            runner.batch.drop([1, 4])
            assert len(runner.batch) == 3
        step = runner.batch.step()
        found |= {n: t for n, t in zip(step.row.tolist(), step.tokens.tolist(), strict=True)}
    assert not len(runner.batch)
    assert [found[n] for n in (0, 2, 3)] == [alone[n].tokens for n in (0, 2, 3)]
    runner.admit(rows[:1], [0], [9])
    runner.batch.drop([])
    runner.batch.drop([9])
    assert not len(runner.batch)
    runner.batch.drop([9])


def test_a_cancelled_row_is_gone_within_two_steps(exact: Model) -> None:
    async def work(engine: Engine) -> None:
        bells = [asyncio.Event() for _ in range(20)]
        jobs = [job(exact, [2, n + 3], "focore", gen_length=100) for n in range(20)]
        tickets = [engine.submit([j], b)[0] for j, b in zip(jobs, bells, strict=True)]
        for ticket, bell in list(zip(tickets, bells, strict=True))[:5]:
            await bell.wait()
            engine.cancel(ticket)
        for ticket in tickets[5:]:
            engine.cancel(ticket)
        while engine.running or engine.waiting:
            await asyncio.sleep(0.001)

    engine = run(work, rows=8)
    count = engine.metrics.value
    assert count("focore_rows_total", {"end": "cancelled"}) == 20
    assert count("focore_steps_after_cancel_total", {}) <= 8  # at most the step under way
    assert not engine._lanes and not engine._since


def test_a_failing_row_fails_alone(exact: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Batch.step

    def failing(self: Batch) -> Any:
        assert self._state is not None
        if (self._state.canvas.tokens[:, 1] == 37).any() and int(
            self._state.canvas.step.max()
        ) == 3:
            raise DecodingError("a row with 37 in its prompt")
        return step(self)

    monkeypatch.setattr(Batch, "step", failing)

    async def work(engine: Engine) -> None:
        options = {"gen_length": 10, "want": Want.STEPS, "temperature": 0.4}
        prompts = [[2, 3], [4, 37], [5, 6]]
        jobs = [job(exact, prompt, "confidence", **options) for prompt in prompts]
        found = await answers(engine, jobs)
        assert isinstance(found[1].error, ApiError) and found[1].error.status == 500
        assert "37" not in found[1].error.message
        for place in (0, 2):
            alone = focore.generate(
                exact, prompts[place], method="confidence", gen_length=10, temperature=0.4
            )
            assert found[place].tokens == alone.tokens
            assert found[place].tally.steps == alone.steps
        (again,) = await answers(engine, jobs[:1])
        assert again.error is None

    run(work)


def test_rows_that_cannot_join_take_nobody_with_them(
    exact: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    admit = Runner.admit

    def failing(self: Runner, rows: Any, seeds: Any, names: Any) -> None:
        if any(37 in row.tokens for row in rows):
            raise MemoryError
        admit(self, rows, seeds, names)

    monkeypatch.setattr(Runner, "admit", failing)

    async def work(engine: Engine) -> None:
        jobs = [job(exact, [n, 5], "focore", gen_length=8) for n in (2, 37, 4)]
        found = await answers(engine, jobs)
        assert [news.error is None for news in found] == [True, False, True]

    run(work)


def test_the_engine_outlives_a_failure_of_its_own(
    exact: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(engine: Engine) -> None:
        with monkeypatch.context() as broken:
            broken.setattr(Engine, "_admit", lambda self: 1 / 0)
            (news,) = await answers(engine, [job(exact, [2], "confidence", gen_length=4)])
            assert news.error and news.error.status == 500
        (news,) = await answers(engine, [job(exact, [2], "confidence", gen_length=4)])
        assert news.error is None

    run(work)


def test_a_slow_reader_costs_bounded_memory_and_misses_no_write(exact: Model) -> None:
    async def work(engine: Engine) -> None:
        bell = asyncio.Event()
        slow = job(exact, [2, 3], "focore", gen_length=60, want=Want.STEPS)
        (ticket,) = engine.submit([slow], bell)
        while engine.running or engine.waiting:
            await asyncio.sleep(0.01)
        assert len(ticket._steps) == 5
        news = await last(ticket, bell)
        committed = [place for seen in news.steps for place in seen.frame.committed]
        assert sorted(committed) == list(range(2, 62))
        assert sum(seen.frame.passes for seen in news.steps) == news.tally.passes
        assert news.steps[-1].frame.index == 59

    run(work, backlog=5)


def test_clients_take_turns(exact: Model) -> None:
    waiting = Waiting()

    async def work(engine: Engine) -> None:
        base = job(exact, [2], "confidence", gen_length=2)
        made = {}
        for client in ("a", "a", "a", "b", "c", "b"):
            each = Job(base.plan, base.row, 0, Want.END, False, client)
            ticket = Ticket(each, 1, asyncio.Event())
            made.setdefault(client, []).append(ticket)
            waiting.add(ticket)
        assert waiting.remove(made["c"][0]) and not waiting.remove(made["c"][0])
        order = [waiting.take() for _ in range(len(waiting))]
        assert [ticket.job.client for ticket in order] == ["a", "b", "a", "b", "a"]
        assert [t for t in order if t.job.client == "a"] == made["a"]
        assert not len(waiting) and not waiting._clients

    run(work)


def test_draining_finishes_what_runs_and_refuses_the_rest(exact: Model) -> None:
    async def work(engine: Engine) -> None:
        bell = asyncio.Event()
        (ticket,) = engine.submit([job(exact, [2], "confidence", gen_length=30)], bell)
        draining = asyncio.create_task(asyncio.to_thread(engine.drain, 100))
        while engine.open:
            await asyncio.sleep(0.001)
        with pytest.raises(ApiError, match="stopping"):
            engine.submit([job(exact, [2], "confidence", gen_length=2)], bell)
        news = await last(ticket, bell)
        assert news.error is None and exact.mask_id not in news.tokens
        await draining
        assert not engine.alive

    run(work)


def test_what_runs_longer_than_the_grace_is_told(exact: Model) -> None:
    async def work(engine: Engine) -> None:
        bells = [asyncio.Event(), asyncio.Event()]
        long = [job(exact, [2, n], "soar", gen_length=100, beam_width=8) for n in (3, 4)]
        tickets = [engine.submit([j], b)[0] for j, b in zip(long, bells, strict=True)]
        await asyncio.to_thread(engine.drain, 0.01)
        for ticket, bell in zip(tickets, bells, strict=True):
            news = await last(ticket, bell)
            assert news.error and news.error.status == 503

    run(work, rows=1)


def test_lanes_hold_no_memory_of_rows_that_left(exact: Model) -> None:
    import gc

    async def work(engine: Engine) -> None:
        for _ in range(3):
            await answers(engine, [job(exact, [2, 3], m, **o) for m, o in METHODS.items()])

    engine = run(work)
    assert not engine._lanes
    gc.collect()
    kept = [x for x in gc.get_objects() if type(x) is Ticket]
    assert not kept
    assert torch.is_inference_mode_enabled() is False


def test_rows_in_hand_are_not_forgotten(exact: Model) -> None:
    """A row that has left the queue and is in no lane yet keeps the engine from stopping."""

    async def work() -> None:
        engine = Engine(Limits(), Metrics())
        tickets = engine.submit([job(exact, [5, 6], "confidence", gen_length=4)], asyncio.Event())
        assert engine._next(1) == tickets
        assert not engine._idle() and engine._everyone() == tickets

    asyncio.run(work())
