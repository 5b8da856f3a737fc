"""Programs over Wengert's own names in which the path from source to target is cut, or is not."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import wengert as wg
from tests.explain.program_table import Table
from wengert import Reason

CUT = Table()
broken = CUT.put

# -- conversions to plain numbers ------------------------------------------------------------------


@broken(Reason.CONVERTED)
def through_numpy():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        values = x.numpy()  # here
        y = wg.sum(wg.asarray(values) ** 2)
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def through_float():
    x = wg.asarray(2.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        scale = float(x)  # here
        y = wg.asarray(scale) * 3.0
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def through_int():
    x = wg.asarray(2.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.ones(3) * int(x)  # here
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def through_item():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        first = x[0].item()  # here
        y = wg.exp(wg.asarray(first))
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def through_tolist():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        numbers = (x * 2).tolist()  # here
        y = wg.sum(wg.asarray(numbers))
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def through_np_asarray():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        array = np.asarray(x)  # here
        y = wg.sum(array * wg.ones(2))
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def through_math():
    x = wg.asarray(2.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.asarray(math.sin(x))  # here
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def through_np_array_of_elements():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        pair = np.array([x[0].item(), x[1].item()])  # here
        y = wg.sum(wg.asarray(pair) ** 2)
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def through_the_data_of_a_tensor():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(wg.asarray(x.data) ** 2)  # here
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def a_conversion_in_a_function():
    def scaled(p):
        size = p.item()  # here
        return wg.asarray(size) * 10.0

    v = wg.Variable(2.0)
    with wg.GradientTape() as tape:
        y = scaled(v * v)
    return tape.why(y, v)


@broken(Reason.CONVERTED)
def a_conversion_in_a_loop():
    x = wg.asarray([1.0, 2.0, 3.0])
    total = 0.0
    with wg.GradientTape() as tape:
        tape.watch(x)
        for i in range(3):
            total += x[i].item() ** 2  # here
        y = wg.asarray(total)
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def a_conversion_in_a_comprehension():
    x = wg.asarray([1.0, 2.0, 3.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        squares = [x[i].item() ** 2 for i in range(3)]  # here
        y = wg.asarray(sum(squares))
    return tape.why(y, x)


# -- dtypes without derivatives --------------------------------------------------------------------


@broken(Reason.INTEGER)
def cast_to_integers():
    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        steps = wg.astype(x, wg.int64)  # here
        y = wg.sum(steps * 1.0)
    return tape.why(y, x)


@broken(Reason.INTEGER)
def cast_to_bool():
    v = wg.Variable([0.0, 2.5])
    with wg.GradientTape() as tape:
        mask = wg.astype(v * 2, wg.bool)  # here
        y = wg.sum(wg.astype(mask, wg.float64))
    return tape.why(y, v)


@broken(Reason.INTEGER)
def asarray_with_an_integer_dtype():
    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        steps = wg.asarray(x, dtype=wg.int32)  # here
        y = wg.sum(steps * 0.5)
    return tape.why(y, x)


@broken(Reason.INTEGER)
def the_target_is_an_integer():
    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(wg.astype(x, wg.int64))
    return tape.why(y, x)


@broken(Reason.INTEGER)
def the_source_is_an_integer():
    n = wg.asarray([1, 2])
    with wg.GradientTape() as tape:
        y = wg.sum(n * 1.5)
    return tape.why(y, n)


# -- detached --------------------------------------------------------------------------------------


@broken(Reason.DETACHED)
def through_stop_gradient():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        hidden = wg.stop_gradient(x**2)  # here
        y = wg.sum(hidden * 3.0)
    return tape.why(y, x)


@broken(Reason.DETACHED)
def stop_gradient_of_a_variable_in_a_function():
    v = wg.Variable([1.0, 2.0])

    def normalised(p):
        scale = wg.stop_gradient(wg.sum(p))  # here
        return scale * 2.0

    with wg.GradientTape() as tape:
        y = normalised(v)
    return tape.why(y, v)


# -- operations without a derivative ---------------------------------------------------------------


@broken(Reason.ZERO_DERIVATIVE)
def through_floor():
    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        steps = wg.floor(x)  # here
        y = wg.sum(steps * 2.0)
    return tape.why(y, x)


@broken(Reason.ZERO_DERIVATIVE)
def through_round_in_a_method():
    class Model:
        def __init__(self):
            self.w = wg.asarray([0.5, -0.5])

        def steps(self, data):
            return np.round(self.w * data)  # here

    model = Model()
    with wg.GradientTape() as tape:
        tape.watch(model.w)
        y = wg.sum(model.steps(3.0))
    return tape.why(y, model.w)


@broken(Reason.ZERO_DERIVATIVE)
def through_ceil_of_numpys():
    v = wg.Variable([1.5, 2.5])
    with wg.GradientTape() as tape:
        y = np.sum(np.ceil(v * 1.5))  # here
    return tape.why(y, v)


@broken(Reason.ZERO_DERIVATIVE)
def through_sign():
    x = wg.asarray([1.5, -2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(wg.sign(x) * 3.0)  # here
    return tape.why(y, x)


@broken(Reason.ZERO_DERIVATIVE)
def through_argmax():
    x = wg.asarray([1.5, -2.5, 4.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        best = wg.argmax(x)  # here
        y = best * 2.0
    return tape.why(y, x)


@broken(Reason.ZERO_DERIVATIVE)
def through_argsort():
    x = wg.asarray([1.5, -2.5, 4.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        order = wg.argsort(x)  # here
        y = wg.sum(order * 0.5)
    return tape.why(y, x)


@broken(Reason.ZERO_DERIVATIVE)
def through_a_comparison():
    x = wg.asarray([1.5, -2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        above = x > 0.0  # here
        y = wg.sum(above * 1.0)
    return tape.why(y, x)


@broken(Reason.ZERO_DERIVATIVE)
def through_the_condition_of_where():
    x = wg.asarray([1.5, -2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        mask = x < 1.0  # here
        y = wg.sum(wg.where(mask, 1.0, 2.0))
    return tape.why(y, x)


@broken(Reason.ZERO_DERIVATIVE)
def as_an_index():
    x, table = wg.asarray([0.0, 3.0, 1.0]), wg.asarray([1.0, 2.0, 3.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        best = wg.argmax(x)  # here
        y = wg.take(table, best)
    return tape.why(y, x)


@broken(Reason.ZERO_DERIVATIVE)
def a_floored_part_of_a_longer_path():
    v = wg.Variable([1.5, 2.5])
    with wg.GradientTape() as tape:
        hidden = wg.exp(v)
        for _ in range(2):
            hidden = wg.floor(hidden)  # here
        y = wg.sum(wg.sqrt(hidden))
    return tape.why(y, v)


# -- variables that are assigned to ----------------------------------------------------------------


@broken(Reason.ASSIGNED)
def assigned_to_a_variable():
    x, state = wg.asarray(2.0), wg.Variable(0.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        state.assign(x * 3.0)  # here
        y = state * 2.0
    return tape.why(y, x)


@broken(Reason.ASSIGNED)
def added_to_a_variable():
    v, total = wg.Variable(2.0), wg.Variable(0.0)
    with wg.GradientTape() as tape:
        for _ in range(2):
            total.assign_add(v * v)  # here
        y = wg.sin(total)
    return tape.why(y, v)


@broken(Reason.ASSIGNED)
def subtracted_from_a_variable():
    v, total = wg.Variable(2.0), wg.Variable(1.0)
    with wg.GradientTape() as tape:
        total.assign_sub(v)  # here
        y = total * total
    return tape.why(y, v)


# -- rules of one's own ----------------------------------------------------------------------------


@broken(Reason.CUSTOM_NONE)
def a_rule_for_one_of_two_arguments():
    @wg.custom_gradient
    def scaled(a, b):
        return a * b, lambda g: (g * b, None)

    x, w = wg.asarray([1.0, 2.0]), wg.asarray([3.0, 4.0])
    with wg.GradientTape() as tape:
        tape.watch([x, w])
        y = wg.sum(scaled(x, w))  # here
    return tape.why(y, w)


@wg.custom_gradient
def silent(x):
    return x * 2.0, lambda g: None


@broken(Reason.CUSTOM_NONE)
def a_custom_rule_answers_none():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        hidden = silent(x)  # here
        y = wg.sum(hidden)
    return tape.why(y, x)


@broken(Reason.CUSTOM_NONE)
def a_custom_rule_inside_a_path():
    v = wg.Variable([1.0, 2.0])
    with wg.GradientTape(persistent=True) as tape:
        hidden = wg.exp(v)
        scaled = silent(hidden)  # here
        y = wg.sum(scaled**2)
    tape.gradient(y, scaled)
    return tape.why(y, v)


# -- connected, and zero by structure --------------------------------------------------------------


@broken(Reason.CONNECTED)
def a_path():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        hidden = wg.exp(x)
        y = wg.sum(hidden)  # here
    return tape.why(y, x)


@broken(Reason.CONNECTED)
def a_path_in_a_nested_tape():
    x = wg.asarray(2.0)
    with wg.GradientTape() as outer:
        outer.watch(x)
        with wg.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        slope = inner.gradient(y, x)  # here
    return outer.why(slope, x)


@broken(Reason.CONNECTED)
def a_path_although_a_part_is_floored():
    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x - wg.floor(x))  # here
    return tape.why(y, x)


@broken(Reason.CONNECTED)
def the_same_tensor():
    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
    return tape.why(x, x)


@broken(Reason.ZERO)
def another_row_by_a_slice():
    x = wg.asarray([[1.0, 2.0], [3.0, 4.0]])
    with wg.GradientTape() as tape:
        tape.watch(x)
        row = x[0]  # here
        y = wg.sum(row**2)
    return tape.why(y, x.at[1])


@broken(Reason.ZERO)
def another_element_of_a_matrix_product():
    x, w = wg.ones((3, 2)), wg.ones((2, 2))
    with wg.GradientTape() as tape:
        tape.watch(x)
        z = wg.matmul(x, w)
        y = z[0, 0]  # here
    return tape.why(y, x.at[2, 1])


@broken(Reason.ZERO)
def a_selection_of_the_target():
    x = wg.asarray([1.0, 2.0, 3.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.exp(x)
    return tape.why(y.at[0], x.at[2])


@broken(Reason.ZERO)
def rows_that_are_not_gathered():
    v = wg.Variable(np.ones((5, 2)))
    with wg.GradientTape() as tape:
        rows = wg.take(v, wg.asarray([0, 1]), axis=0)  # here
        y = wg.sum(rows)
    return tape.why(y, v.at[4])


@broken(Reason.ZERO)
def an_element_that_is_overwritten():
    x = wg.asarray([1.0, 2.0, 3.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        changed = x.at[:2].set(0.0)  # here
        y = wg.sum(changed**2)
    return tape.why(y, x.at[0])


# -- inside of transforms --------------------------------------------------------------------------


@broken(Reason.ZERO_DERIVATIVE)
def inside_vmap():
    x = wg.asarray([[1.5, 2.5], [0.5, -0.5]])

    def row_loss(row):
        steps = wg.floor(row)  # here
        return wg.sum(steps * 2.0)

    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(wg.vmap(row_loss)(x))
    return tape.why(y, x)


@broken(Reason.NOT_WATCHED)
def unwatched_inside_vmap():
    x = wg.asarray([[1.5, 2.5], [0.5, -0.5]])

    def row_loss(row):
        return wg.sum(row**2)  # here

    with wg.GradientTape() as tape:
        y = wg.sum(wg.vmap(row_loss)(x))
    return tape.why(y, x)


@broken(Reason.DETACHED)
def for_a_jacobian():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.stop_gradient(x) * 2.0  # here
    assert tape.jacobian(y, x) is None
    return tape.why(y, x)


@broken(Reason.ZERO_DERIVATIVE)
def a_second_derivative_that_is_not_there():
    x = wg.asarray(2.5)
    with wg.GradientTape() as outer:
        outer.watch(x)
        with wg.GradientTape() as inner:
            inner.watch(x)
            y = x * wg.floor(x)  # here
        slope = inner.gradient(y, x)
    return outer.why(slope, x)


# -- habits that are no cuts -----------------------------------------------------------------------


@broken(Reason.UNRELATED)
def a_value_is_printed():
    x, w = wg.asarray([1.0, 2.0]), wg.asarray(3.0)
    with wg.GradientTape() as tape:
        tape.watch([x, w])
        print(end=f"{float(wg.sin(w)) * 0:.0f}"[:0])
        y = wg.sum(x**2)  # here
    return tape.why(y, w)


@broken(Reason.UNRELATED)
def a_value_is_tested():
    x, w = wg.asarray([1.0, 2.0]), wg.asarray(3.0)
    with wg.GradientTape() as tape:
        tape.watch([x, w])
        if w.item() > 100.0:
            x = x * w
        y = wg.sum(x**2)  # here
    return tape.why(y, w)


@broken(Reason.UNRELATED)
def a_value_is_kept_for_a_log():
    x, w, log = wg.asarray([1.0, 2.0]), wg.asarray(3.0), []
    with wg.GradientTape() as tape:
        tape.watch([x, w])
        log.append(w.item())
        y = wg.sum(x * x)  # here
    return tape.why(y, w)


@broken(Reason.CONVERTED)
def collected_in_a_list():
    x, found = wg.asarray([1.0, 2.0]), []
    with wg.GradientTape() as tape:
        tape.watch(x)
        for i in range(2):
            found.append((x[i] ** 2).item())  # here
        y = wg.sum(wg.asarray(found))
    return tape.why(y, x)


@broken(Reason.CONVERTED)
def computed_by_numpy_in_between():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        plain = x.numpy()  # here
        scaled = plain * 2.0 + 1.0
        y = wg.sum(wg.asarray(scaled))
    return tape.why(y, x)


@broken(Reason.UNRELATED)
def a_conversion_under_an_earlier_tape():
    x, log = wg.asarray([1.5, 2.5]), []
    with wg.GradientTape() as first:
        first.watch(x)
        log.append(wg.sum(x).item())
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(wg.zeros_like(x))  # here
    return tape.why(y, x)


# -- functions that run again, or as one node ------------------------------------------------------


@broken(Reason.ZERO_DERIVATIVE)
def in_a_checkpoint():
    def layer(p):
        hidden = wg.sin(p)
        return wg.floor(hidden) * 2.0  # here

    v = wg.Variable([1.5, 2.5])
    with wg.GradientTape() as tape:
        y = wg.sum(wg.checkpoint(layer)(v))
    return tape.why(y, v)


@broken(Reason.ZERO_DERIVATIVE)
def in_a_scan():
    def step(carry, element):
        return carry + wg.round(element), carry  # here

    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y, _ = wg.scan(step, wg.asarray(0.0), x)
    return tape.why(y, x)


@broken(Reason.DETACHED)
def beside_a_custom_rule():
    @wg.custom_gradient
    def straight(p):
        return wg.floor(p), lambda g: g

    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(straight(wg.stop_gradient(x)))  # here
    return tape.why(y, x)


@broken(Reason.CONNECTED)
def a_rule_in_place_of_a_floor():
    @wg.custom_gradient
    def straight(p):
        return wg.floor(p), lambda g: g

    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(straight(x))  # here
    return tape.why(y, x)


# -- methods, generators, recursion ----------------------------------------------------------------


@broken(Reason.ZERO_DERIVATIVE)
def through_a_generator():
    def parts(p):
        for i in range(2):
            yield wg.trunc(p[i])  # here

    v = wg.Variable([1.5, 2.5])
    with wg.GradientTape() as tape:
        y = sum(parts(v))
    return tape.why(y, v)


@broken(Reason.DETACHED)
def through_a_recursion():
    def power(p, n):
        if n == 0:
            return wg.stop_gradient(p) * 1.0  # here
        return power(p, n - 1) * 2.0

    x = wg.asarray(1.5)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = power(x, 5)
    return tape.why(y, x)


@broken(Reason.NOT_WATCHED)
def in_a_method():
    class Line:
        def __init__(self):
            self.slope = wg.asarray(2.0)

        def __call__(self, t):
            return self.slope * t  # here

    line = Line()
    with wg.GradientTape() as tape:
        y = line(3.0)
    return tape.why(y, line.slope)


@broken(Reason.INTEGER)
def in_a_property():
    class Line:
        def __init__(self):
            self.slope = wg.asarray(2.5)

        @property
        def steps(self):
            return wg.astype(self.slope, wg.int64)  # here

    line = Line()
    with wg.GradientTape() as tape:
        tape.watch(line.slope)
        y = line.steps * 0.5
    return tape.why(y, line.slope)


# -- tapes that are gone, and threads --------------------------------------------------------------


@broken(Reason.OTHER_TAPE)
def recorded_by_a_tape_that_is_gone():
    x = wg.asarray(2.0)

    def recorded():
        with wg.GradientTape() as gone:
            gone.watch(x)
            return wg.exp(x)  # here

    y = recorded()
    with wg.GradientTape() as tape:
        tape.watch(x)
    return tape.why(y, x)


@broken(Reason.UNSEEN)
def computed_in_another_thread():
    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        with ThreadPoolExecutor(1) as pool:
            y = pool.submit(wg.exp, x).result()
    return tape.why(y, x)
