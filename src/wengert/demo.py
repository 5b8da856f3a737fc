"""Six small programs that ask for derivatives, and print what they find.

Each function here is one program: it computes everything that it reports, and returns a
`Report`. `PROGRAMS` names them for ``wengert demo``, and `render` lays a report out.
"""

from __future__ import annotations

import math
import re
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import wengert as wg
from wengert.explain.colours import diverging, shares


@dataclass(frozen=True)
class Report:
    """What a program is about and asks, and its answers: pairs of a label and a value."""

    title: str
    question: str
    answers: list[tuple[str, Any]]


@dataclass(frozen=True)
class HeatMap:
    """A matrix to look at: a cell for each number, in colours or in characters."""

    values: np.ndarray

    def text(self, colours: int = 0) -> str:
        """Return the cells, two columns wide, for a terminal of so many colours.

        Without colours a cell is a sign and tenths of the largest number, or a dot.
        """
        rows = shares(self.values)
        return "\n".join("".join(_cell(share, colours) for share in row) for row in rows)


def _cell(share: float, colours: int) -> str:
    if not colours:
        if math.isnan(share):
            return " ?"
        sign = "-" if share < 0 else "+"
        tenths = 10 if math.isinf(share) else min(9, round(10 * abs(share)))
        return sign + "0123456789!"[tenths] if tenths else " ."
    red, green, blue = diverging(share)
    if colours > 256:
        return f"\x1b[48;2;{red};{green};{blue}m  \x1b[0m"
    cube = 16 + 36 * round(red / 51) + 6 * round(green / 51) + round(blue / 51)
    return f"\x1b[48;5;{cube}m  \x1b[0m"


def elements() -> Report:
    """Ask how one element of a result depends on all elements of an argument."""
    x = wg.asarray([[1.0, -2.0, 0.5, 3.0], [2.0, 0.0, -1.0, 1.0], [4.0, 1.5, 2.5, -3.0]])
    y = wg.asarray([[2.0, 1.0], [3.0, -1.0], [0.5, 4.0], [-2.0, 6.0]])
    tape = wg.GradientTape(persistent=True)
    with tape:
        tape.watch(x)
        itself = x[1, 2]
        product = (x @ y)[0, 0]
        row_sum = wg.sum(x, axis=1)[2]
        total = wg.sum(x)

    wide = wg.reshape(wg.linspace(-1.0, 1.0, 300 * 400), (300, 400))
    tall = wg.reshape(wg.linspace(0.0, 1.0, 400 * 500), (400, 500))
    with wg.GradientTape() as large:
        large.watch(wide)
        corner = wg.tanh(wide @ tall / 400)[0, 0]
    block = large.gradient(corner, wide, dense=False)

    return Report(
        title="Derivatives of single elements",
        question=(
            "How does one element of a result depend on every element of x, and how many numbers "
            "does it take to find out?"
        ),
        answers=[
            ("d x[1,2] / dx", tape.gradient(itself, x)),
            ("the same, dense=False", tape.gradient(itself, x, dense=False)),
            ("z = x @ y: d z[0,0] / dx", tape.gradient(product, x)),
            ("the same, dense=False", tape.gradient(product, x, dense=False)),
            ("d sum(x, axis=1)[2] / dx", tape.gradient(row_sum, x)),
            ("d sum(x) / dx", tape.gradient(total, x)),
            ("tanh(x @ y)[0,0]: elements of x", wide.size),
            ("derivatives computed", block.values.size),
            ("memory they take, in bytes", block.nbytes),
            ("memory all would take", wide.size * wide.dtype.itemsize),
        ],
    )


def replace() -> Report:
    """Replace one element of a vector, and optimise one alone."""
    x = wg.asarray([3.0, 1.0, 4.0, 1.0, 5.0])
    v = wg.asarray(-2.0)
    with wg.GradientTape() as tape:
        tape.watch([x, v])
        changed = x.at[2].set(v)
        energy = wg.sum(changed**2)
    to_x, to_v = tape.gradient(energy, [x, v])

    # Which value of element 1 makes the weighted sum 10, if all others stay as they are?
    weights = wg.asarray([0.1, 2.0, -0.3, 0.7, 0.2])
    start = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    vector: Any = wg.Variable(start)
    steps = 0
    while steps < 1000:
        element = vector[1]
        with wg.GradientTape() as tape:
            tape.watch(element)
            miss = wg.sum(weights * vector.at[1].set(element)) - 10.0
            loss = miss * miss
        slope = tape.gradient(loss, element)
        if wg.abs(slope) < 1e-12:
            break
        vector[1] = element - 0.1 * slope
        steps += 1
    others = [0, 2, 3, 4]
    untouched = vector.numpy()[others].tobytes() == start[others].tobytes()

    return Report(
        title="One element of a vector: replaced, and then optimised alone",
        question=(
            "If x[2] is replaced by a number v, where do derivatives flow; and can one element be "
            "fitted while its neighbours keep every bit?"
        ),
        answers=[
            ("x", x),
            ("x.at[2].set(v), v = -2", changed),
            ("d sum of squares / dv", to_v),
            ("d sum of squares / dx", to_x),
            ("the vector before", wg.asarray(start)),
            ("after fitting element 1", vector.value()),
            ("steps of descent", steps),
            ("its weighted sum", wg.sum(weights * vector)),
            ("the others kept every bit", untouched),
        ],
    )


@wg.custom_gradient
def second_element(h: Any) -> Any:
    """Return h[1], with a gradient written by hand: g at that place, and 0 elsewhere."""
    return h[1], lambda g: wg.zeros_like(h).at[1].set(g)


def within() -> Report:
    """Compute an element of a tensor from another, and differentiate by that one."""
    x = wg.asarray([0.5, 1.0, 1.5, 2.0])
    weights = wg.asarray([1.0, 2.0, 3.0, 4.0])

    def program(read: Callable[[Any], Any]) -> tuple[Any, ...]:
        h = x * x
        element = read(h)
        filled = h.at[3].set(3.0 * element * h[0])
        return h, element, filled[3], wg.sum(weights * filled)

    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        h, element, last, result = program(lambda h: h[1])
        own_h, _, _, own_result = program(second_element)
    by_rule = tape.gradient(result, h)
    by_hand = tape.gradient(own_result, own_h)

    return Report(
        title="An element that another element of the same tensor is computed from",
        question=(
            "h = x * x, and then h[3] becomes 3 h[1] h[0]. What does h[1] do to the weighted sum "
            "of h: by that one use, and in all?"
        ),
        answers=[
            ("h, before h[3] is replaced", h),
            ("d new h[3] / dh", tape.gradient(last, h)),
            ("d result / dh[1], by that use", tape.gradient(result, element)),
            ("d result / dh[1], in all", by_rule[1]),
            ("d result / dh", by_rule),
            ("with a gradient by hand", by_hand),
            ("both agree exactly", bool(wg.all(by_rule == by_hand))),
            ("d result / dx", tape.gradient(result, x)),
        ],
    )


def targets() -> Report:
    """Differentiate a tensor of results: its sum, its mean, and by weights."""
    stiffness = 2.0
    height = wg.asarray([[0.0, 1.0, 3.0, 2.0], [1.0, 1.0, 0.0, 4.0]])
    one_spring = wg.asarray([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(height)
        stretch = wg.diff(height, axis=1)
        average = wg.mean(stretch)
        energy = wg.sum(0.5 * stiffness * stretch**2)
    tension = stiffness * stretch
    pull = tape.gradient(stretch, height, output_gradients=tension)
    slope = tape.gradient(energy, height)

    return Report(
        title="Targets that are not one number",
        question=(
            "Two rows of four beads, with a spring between neighbours. A spring's stretch is the "
            "difference of two heights: what is the derivative of all six at once?"
        ),
        answers=[
            ("stretch of each spring", stretch),
            ("a tensor means its sum", tape.gradient(stretch, height)),
            ("the mean", tape.gradient(average, height)),
            ("weights that pick one spring", tape.gradient(stretch, height, one_spring)),
            ("weighted by the tensions", pull),
            ("derivative of the energy", slope),
            ("these are one (virtual work)", bool(wg.all(pull == slope))),
            ("energy", energy),
        ],
    )


def regression() -> Report:
    """Fit a line with variables; take an intermediate and a constant as sources."""
    x = wg.asarray([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
    y = 2.0 * x + 1.0

    def gradients(w: wg.Variable, b: wg.Variable) -> tuple[Any, list[Any]]:
        with wg.GradientTape() as tape:
            loss = wg.mean((w * x + b - y) ** 2)
        return loss, tape.gradient(loss, [w, b])

    _, at_fit = gradients(wg.Variable(2.0), wg.Variable(1.0))
    w, b = wg.Variable(0.0, name="w"), wg.Variable(0.0, name="b")
    first_loss, at_zero = gradients(w, b)
    steps = 300
    for _ in range(steps):
        loss, (to_w, to_b) = gradients(w, b)
        w.assign_sub(0.2 * to_w)
        b.assign_sub(0.2 * to_b)

    t: Any = wg.Variable(2.0)
    with wg.GradientTape(persistent=True) as tape:
        cube = t**3
        polynomial = cube**2 + t
    constant = wg.asarray(3.0)
    with wg.GradientTape() as unwatched:
        square = constant**2
    with wg.GradientTape() as watched:
        watched.watch(constant)
        again = constant**2

    return Report(
        title="The tape on a straight line, a polynomial and a constant",
        question=(
            "Which way do w and b improve the line w x + b on points of 2 x + 1; and with respect "
            "to what else does a tape differentiate?"
        ),
        answers=[
            ("d loss / d(w, b) at (2, 1), the fit", wg.stack(at_fit)),
            ("d loss / d(w, b) at (0, 0)", wg.stack(at_zero)),
            ("loss at (0, 0)", first_loss),
            (f"(w, b) after {steps} steps", wg.stack([w.value(), b.value()])),
            ("loss there, rounded to 1e-12", round(loss.item(), 12)),
            ("y = t^3, z = y^2 + t: dz/dt at 2", tape.gradient(polynomial, t)),
            ("dz/dy, of the intermediate y", tape.gradient(polynomial, cube)),
            ("d c^2 / dc of a constant c = 3", unwatched.gradient(square, constant)),
            ("once it is watched", watched.gradient(again, constant)),
        ],
    )


def network(image: Any, layers: int = 6, channels: int = 8) -> Any:
    """Return the answer of a network of 3 x 3 convolutions, whose weights nobody has trained."""
    nn: Any = wg.nn
    rng = np.random.default_rng(4)
    for layer in range(layers):
        mixing = rng.normal(size=(1 if layer == layers - 1 else channels, image.shape[1], 1, 1))
        kernels = np.outer([1, 2, 1], [1, 2, 1]) + 2 * rng.normal(size=(*mixing.shape[:2], 3, 3))
        weights = (mixing * kernels / 12 / np.sqrt(channels)).astype(np.float32)
        image = wg.tanh(nn.conv2d(image, weights, padding=1))
    return image


def seconds_of(call: Callable[[], Any], rounds: int) -> float:
    """Return the least time that a call took."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def look() -> Report:
    """Show which pixels one pixel of a network's answer depends on, and a sparse pattern."""
    image = wg.asarray(np.random.default_rng(0).normal(size=(1, 1, 160, 160)).astype(np.float32))
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(image)
        answer = network(image)
    pixel = answer.at[0, 0, 80, 50]
    block = tape.gradient(pixel, image, dense=False)
    rows, columns = block.region[2:]
    one = seconds_of(lambda: tape.gradient(pixel, image, dense=False), 20)
    whole = seconds_of(lambda: tape.gradient(answer, image), 3)

    def heat(u: Any) -> Any:
        p = wg.pad(wg.reshape(u, (6, 6)), 1)
        flow = p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * p[1:-1, 1:-1]
        return wg.reshape(flow, (36,))

    plan = wg.sparse.jacobian(heat, np.zeros(36))
    return Report(
        title="A picture of what one number depends on",
        question=(
            "Six 3 x 3 convolutions turn an image into another. Which input pixels does one output "
            "pixel depend on? Below it, the Jacobian of heat flow on a grid, which is sparse. "
            "Red and + are positive, blue and - negative."
        ),
        answers=[
            ("answer[80, 50] depends on", f"image[{_range(rows)}, {_range(columns)}]"),
            ("how strongly", HeatMap(block.values.numpy()[0, 0])),
            (
                "time of its gradient",
                f"{1e3 * one:.2f} ms; the whole answer's: {1e3 * whole:.1f} ms",
            ),
            ("Jacobian, 6 x 6 grid", plan),
            ("sweeps to compute it", plan.sweeps),
        ],
    )


PROGRAMS: dict[str, Callable[[], Report]] = {
    program.__name__: program for program in (elements, replace, within, targets, regression, look)
}
#: What to try after the demo: a program for PyTorch, which need not be installed.
NEXT = 'wengert run -c "import torch as t; print(t.func.grad(t.sin)(t.tensor(0.)))"'


def timed(name: str) -> tuple[Report, float]:
    """Return a program's report, and the seconds it took."""
    start = time.perf_counter()
    report = PROGRAMS[name]()
    return report, time.perf_counter() - start


def render(
    name: str,
    report: Report,
    seconds: float,
    width: int = 80,
    bold: bool = False,
    colours: int = 0,
) -> str:
    """Return a report as text of at most `width` columns, where words and numbers allow it."""
    mark = "\x1b[1m{}\x1b[0m".format if bold else str
    lines = [mark(line) for line in textwrap.wrap(f"{name}: {report.title}", width)]
    lines += textwrap.wrap(report.question, width, initial_indent="  ", subsequent_indent="  ")
    lines += ["", *_table(report.answers, width, colours), "", f"  took {1000 * seconds:.1f} ms"]
    return "\n".join(lines) + "\n"


def _table(answers: list[tuple[str, Any]], width: int, colours: int) -> list[str]:
    """Return answers in two columns, or below their labels where those do not fit."""
    column = 4 + max(len(label) for label, _ in answers)
    shown = [_shown(value, width - column, colours) for _, value in answers]
    lines = []
    if column + max(_length(line) for text in shown for line in text.splitlines()) <= width:
        for (label, _), text in zip(answers, shown, strict=True):
            first, *rest = text.splitlines()
            lines += [f"  {label:{column - 2}}{first}", *(" " * column + line for line in rest)]
        return lines
    for label, value in answers:
        lines += textwrap.wrap(label, width, initial_indent="  ", subsequent_indent="  ")
        lines += ["    " + line for line in _shown(value, width - 4, colours).splitlines()]
    return lines


def _length(line: str) -> int:
    """Return how many columns a line takes: colours take none."""
    return len(re.sub(r"\x1b\[[\d;]*m", "", line))


def _range(r: range) -> str:
    return str(r.start) if len(r) == 1 else f"{r.start}:{r.stop}"


def _shown(value: Any, width: int, colours: int = 0) -> str:
    """Return a value as text, with numbers short enough to read."""
    if isinstance(value, HeatMap):
        return value.text(colours)
    if hasattr(value, "draw"):  # a plan: its class is not imported for the other programs
        return value.draw(min(36, width - 2))
    if isinstance(value, wg.Block):
        where = ", ".join(map(_range, value.region))
        return f"{_shown(value.values, width)}\nat [{where}] of shape {value.shape}"
    if isinstance(value, wg.Tensor):
        array = value.numpy() + 0.0  # which makes 0 of -0
        if not array.ndim:
            return f"{array:.6g}"
        return np.array2string(array, precision=6, suppress_small=True, max_line_width=width)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
