"""Schedules of rates."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.dialects.parity import Program, Programs
from tests.dialects.torch.optim.trainings import Schedule, loss_of, model, scheduled, trained
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()

SCHEDULES: dict[str, Schedule] = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda k: 0.9**k),
    "LambdaLR-list": lambda s, o: s.LambdaLR(o, [lambda k: 1 / (k + 1), lambda k: 0.5]),
    "StepLR": lambda s, o: s.StepLR(o, 3),
    "StepLR-gamma": lambda s, o: s.StepLR(o, step_size=4, gamma=0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9], gamma=0.3),
    "ConstantLR": lambda s, o: s.ConstantLR(o),
    "ConstantLR-options": lambda s, o: s.ConstantLR(o, factor=0.5, total_iters=3),
    "LinearLR": lambda s, o: s.LinearLR(o),
    "LinearLR-options": lambda s, o: s.LinearLR(o, 0.1, 0.5, total_iters=7),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o),
    "PolynomialLR-options": lambda s, o: s.PolynomialLR(o, total_iters=8, power=2.0),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5),
    "CosineAnnealingLR-least": lambda s, o: s.CosineAnnealingLR(o, T_max=4, eta_min=0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4),
    "CosineAnnealingWarmRestarts-mult": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 2, 0.001),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.1, total_steps=20),
    "OneCycleLR-linear": lambda s, o: s.OneCycleLR(
        o, [0.1, 0.2], epochs=5, steps_per_epoch=4, anneal_strategy="linear", pct_start=0.5
    ),
    "OneCycleLR-three": lambda s, o: s.OneCycleLR(
        o, 0.1, 20, three_phase=True, div_factor=10, final_div_factor=100, cycle_momentum=False
    ),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)], milestones=[4]
    ),
    "SequentialLR-warmup": lambda s, o: s.SequentialLR(
        o,
        [s.LinearLR(o, 0.01, total_iters=4), s.CosineAnnealingLR(o, 6), s.StepLR(o, 2)],
        [4, 10],
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name: str) -> None:
    """Rates, parameters and what is kept are those of PyTorch."""
    compare(scheduled(SCHEDULES[name]), 1e-7)


@pytest.mark.parametrize("name", ["OneCycleLR", "OneCycleLR-linear"])
def test_schedule_of_betas(name: str) -> None:
    """Momenta of Adam are its first betas."""
    compare(scheduled(SCHEDULES[name], "Adam"), 1e-6)


@pytest.mark.parametrize("name", [n for n in SCHEDULES if not n.startswith(("Seq", "Chain"))])
def test_schedule_at_an_epoch(name: str) -> None:
    """A step may be named, and steps may go on from there."""

    def run(torch: Any) -> Any:
        p, q = model(torch)
        opt = torch.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.02}], 0.05, momentum=0.9)
        schedule = SCHEDULES[name](torch.optim.lr_scheduler, opt)
        rates = []
        for epoch in (3, 7, None, None, 1, None):
            schedule.step(epoch)
            rates.append((schedule.get_last_lr(), schedule.last_epoch))
        return rates

    compare(run, 1e-9)


@pytest.mark.parametrize("name", [n for n in SCHEDULES if "-" not in n and "Cyc" not in n])
def test_schedule_loaded(name: str) -> None:
    """A schedule that takes over another's state goes on as it would."""

    def run(torch: Any) -> Any:
        make, schedules = SCHEDULES[name], torch.optim.lr_scheduler
        p, q = model(torch)
        opt = torch.optim.SGD([p, q], lr=0.1, momentum=0.9)
        schedule = make(schedules, opt)
        trained(torch, opt, p, q, 4, schedule=schedule)
        other = torch.optim.SGD([p, q], lr=0.1, momentum=0.9)
        again = make(schedules, other)
        again.load_state_dict(schedule.state_dict())
        other.load_state_dict(opt.state_dict())
        rates = []
        for _ in range(6):
            other.step()
            again.step()
            rates.append(again.get_last_lr())
        return rates, again.last_epoch

    compare(run, 1e-9)


def plateau(losses: list[float], **options: Any) -> Program:
    """Return a program with the rates that some losses lead to."""

    def run(torch: Any) -> Any:
        p, q = model(torch)
        opt = torch.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.5}], lr=1.0)
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, **options)
        rates = []
        for loss in losses:
            schedule.step(loss)
            rates.append((schedule.get_last_lr(), schedule.num_bad_epochs, schedule.in_cooldown))
        return rates, schedule.state_dict()

    return run


_LEVEL = [1.0, 0.9, 0.9, 0.9, 0.9, 0.8, 0.85, 0.85, 0.85, 0.85, 0.85, 0.7, 0.7]
PROGRAMS["plateau"] = plateau(_LEVEL, patience=2)
PROGRAMS["plateau_max"] = plateau(_LEVEL, mode="max", patience=1, factor=0.5)
PROGRAMS["plateau_cooldown"] = plateau(_LEVEL, patience=0, cooldown=2)
PROGRAMS["plateau_absolute"] = plateau(
    _LEVEL, patience=1, threshold=0.15, threshold_mode="abs", min_lr=0.05
)
PROGRAMS["plateau_max_absolute"] = plateau(
    _LEVEL, mode="max", patience=1, threshold_mode="abs", min_lr=[0.2, 0.4]
)
PROGRAMS["plateau_eps"] = plateau(_LEVEL, patience=0, eps=0.1)


@program
def plateau_of_tensors(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=1.0)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0)
    for _ in range(3):
        schedule.step(loss_of(p, q))
    schedule.step(0.0, epoch=10)
    return schedule.get_last_lr(), schedule.last_epoch, schedule.best


@program
def plateau_loaded(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=1.0)
    one = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, "max", patience=1)
    one.step(1.0)
    one.step(0.5)
    two = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)
    two.load_state_dict(one.state_dict())
    two.step(0.5)
    return two.get_last_lr(), two.state_dict()


BAD_SCHEDULES: dict[str, Schedule] = {
    "no optimiser": lambda s, o: s.StepLR(3, 3),
    "lambdas": lambda s, o: s.LambdaLR(o, [lambda k: 1.0] * 3),
    "constant": lambda s, o: s.ConstantLR(o, 1.5),
    "linear start": lambda s, o: s.LinearLR(o, 0),
    "linear end": lambda s, o: s.LinearLR(o, 0.5, 2),
    "resumed": lambda s, o: s.StepLR(o, 3, last_epoch=4),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 0),
    "restarts mult": lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 0),
    "restarts least": lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 1, None),
    "restarts epoch": lambda s, o: s.CosineAnnealingWarmRestarts(o, 1).step(-1),
    "one cycle steps": lambda s, o: s.OneCycleLR(o, 0.1),
    "one cycle zero": lambda s, o: s.OneCycleLR(o, 0.1, 0),
    "one cycle epochs": lambda s, o: s.OneCycleLR(o, 0.1, epochs=0, steps_per_epoch=2),
    "one cycle share": lambda s, o: s.OneCycleLR(o, 0.1, 5, pct_start=2),
    "one cycle strategy": lambda s, o: s.OneCycleLR(o, 0.1, 5, anneal_strategy="square"),
    "plateau factor": lambda s, o: s.ReduceLROnPlateau(o, factor=1.0),
    "plateau mode": lambda s, o: s.ReduceLROnPlateau(o, "least"),
    "plateau threshold": lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="both"),
    "plateau rates": lambda s, o: s.ReduceLROnPlateau(o, min_lr=[0.1] * 3),
    "plateau step": lambda s, o: s.ReduceLROnPlateau(o).step(),
    "sequence empty": lambda s, o: s.SequentialLR(o, [], []),
    "sequence milestones": lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [1]),
    "sequence plateau": lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []),
    "sequence epoch": lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], []).step(3),
    "no get_lr": lambda s, o: s.LRScheduler(o),
}


@pytest.mark.parametrize("name", BAD_SCHEDULES)
def test_bad_schedules(name: str) -> None:
    """What PyTorch refuses is refused, with the same class of error."""

    def run(torch: Any) -> Any:
        opt = torch.optim.Adagrad(list(model(torch)), lr=0.1)
        return BAD_SCHEDULES[name](torch.optim.lr_scheduler, opt)

    compare(run)


@program
def one_cycle_ends(torch: Any) -> Any:
    opt = torch.optim.SGD(list(model(torch)), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, 5)
    for _ in range(6):
        schedule.step()


@program
def schedules_resumed(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([{"params": [p, q], "initial_lr": 0.1}], lr=0.05)
    found = []
    for make in (
        lambda s: s.StepLR(opt, 3, last_epoch=4),
        lambda s: s.CosineAnnealingLR(opt, 10, last_epoch=4),
        lambda s: s.ExponentialLR(opt, 0.9, last_epoch=4),
        lambda s: s.LambdaLR(opt, lambda k: 0.9**k, last_epoch=4),
        lambda s: s.LinearLR(opt, last_epoch=2),
    ):
        schedule = make(torch.optim.lr_scheduler)
        opt.step()
        schedule.step()
        found.append((schedule.get_last_lr(), schedule.last_epoch))
    return found


@program
def schedules_with_fractions_of_epochs(torch: Any) -> Any:
    opt = torch.optim.SGD(list(model(torch)), lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=3, T_mult=2)
    rates = []
    for k in range(30):
        schedule.step(k / 3)
        rates.append((schedule.get_last_lr(), schedule.T_cur, schedule.T_i, schedule.last_epoch))
    return rates


@program
def schedules_of_tensor_rates(torch: Any) -> Any:
    rate = torch.tensor(0.1, dtype=torch.float64)
    opt = torch.optim.SGD(list(model(torch)), lr=rate, momentum=0.9)
    found = []
    for make in (
        lambda s: s.StepLR(opt, 2, 0.5),
        lambda s: s.LinearLR(opt),
        lambda s: s.CosineAnnealingLR(opt, 5),
        lambda s: s.LambdaLR(opt, lambda k: 0.5**k),
    ):
        schedule = make(torch.optim.lr_scheduler)
        for _ in range(3):
            schedule.step()
        found.append((schedule.get_last_lr(), opt.param_groups[0]["lr"] is rate))
    return found


@program
def callable_objects_are_saved(torch: Any) -> Any:
    class Decay:
        def __init__(self, by: float) -> None:
            self.by = by

        def __call__(self, k: int) -> float:
            return self.by**k

    opt = torch.optim.SGD(list(model(torch)), lr=0.1)
    one = torch.optim.lr_scheduler.LambdaLR(opt, Decay(0.5))
    two = torch.optim.lr_scheduler.LambdaLR(opt, Decay(0.9))
    two.load_state_dict(one.state_dict())
    two.step()
    return one.state_dict(), two.get_last_lr()


@program
def warnings_of_schedules(torch: Any) -> Any:
    found = []
    for steps in (
        lambda s: s.step(),
        lambda s: (s.optimizer.step(), s.step()),
        lambda s: s.step(3),
        lambda s: s.get_lr(),
        lambda s: s.get_last_lr(),
    ):
        opt = torch.optim.SGD(list(model(torch)), lr=0.1)
        schedule = torch.optim.lr_scheduler.StepLR(opt, 3)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            steps(schedule)
        found.append([w.category.__name__ for w in seen])
    return found


@program
def hooks_see_steps_of_scheduled_optimisers(torch: Any) -> Any:
    p, q = model(torch)
    opt = torch.optim.SGD([p, q], lr=0.1)
    torch.optim.lr_scheduler.StepLR(opt, 3)
    seen: list[int] = []
    opt.register_step_post_hook(lambda o, args, kwargs: seen.append(len(args)))
    opt.step()
    return seen, opt.step(lambda: 4.0)


@program
def isinstance_of_optimisers(torch: Any) -> Any:
    opt = torch.optim.AdamW(list(model(torch)))
    schedule = torch.optim.lr_scheduler.StepLR(opt, 3)
    return [
        isinstance(opt, torch.optim.Optimizer),
        isinstance(opt, torch.optim.Adam),
        isinstance(schedule, torch.optim.lr_scheduler.LRScheduler),
        issubclass(
            torch.optim.lr_scheduler.ReduceLROnPlateau, torch.optim.lr_scheduler.LRScheduler
        ),
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name], None if "float32" in name else 1e-6)
