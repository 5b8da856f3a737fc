"""Programs over Wengert's own names that ask about the wrong tensor, or the wrong tape."""

from __future__ import annotations

import numpy as np

import wengert as wg
from tests.explain.program_table import Table
from wengert import Reason

NATIVE = Table()
broken = NATIVE.put

# -- sources that nobody watches -------------------------------------------------------------------


@broken(Reason.NOT_WATCHED)
def watch_is_missing():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        y = wg.sum(x**2)  # here
    return tape.why(y, x)


@broken(Reason.NOT_WATCHED)
def another_tensor_is_watched():
    x, w = wg.asarray([1.0, 2.0]), wg.asarray([3.0, 4.0])
    with wg.GradientTape() as tape:
        tape.watch(w)
        hidden = wg.tanh(x)  # here
        y = wg.sum(w * hidden)
    return tape.why(y, x)


@broken(Reason.NOT_WATCHED)
def not_watched_in_a_function():
    def loss(p):
        return wg.sum(wg.sin(p))  # here

    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        y = loss(x)
    return tape.why(y, x)


@broken(Reason.NOT_WATCHED)
def not_watched_with_numpys_names():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        y = np.sum(np.sin(x))  # here
    return tape.why(y, x)


@broken(Reason.NOT_WATCHED)
def not_watched_in_a_comprehension():
    x = wg.asarray([1.0, 2.0, 3.0])
    with wg.GradientTape() as tape:
        y = sum([x[i] ** 2 for i in range(3)])  # here
    return tape.why(y, x)


@broken(Reason.NOT_WATCHED)
def a_variable_that_is_not_trainable():
    v = wg.Variable([1.0, 2.0], trainable=False)
    with wg.GradientTape() as tape:
        y = wg.sum(v**2)  # here
    return tape.why(y, v)


@broken(Reason.NOT_WATCHED)
def a_tape_that_does_not_watch_variables():
    v = wg.Variable([1.0, 2.0])
    with wg.GradientTape(watch_accessed_variables=False) as tape:
        y = wg.sum(v**2)  # here
    return tape.why(y, v)


@broken(Reason.NOT_WATCHED)
def watched_by_the_outer_tape_only():
    x = wg.asarray(2.0)
    with wg.GradientTape() as outer:
        outer.watch(x)
        with wg.GradientTape() as inner:
            y = x**3  # here
    return inner.why(y, x)


@broken(Reason.NOT_WATCHED)
def the_value_of_a_variable_that_is_not_trainable():
    v = wg.Variable(2.0, trainable=False)
    with wg.GradientTape() as tape:
        x = v.value()
        y = wg.exp(x)  # here
    return tape.why(y, x)


# -- watched too late ------------------------------------------------------------------------------


@broken(Reason.WATCHED_LATE)
def watched_after_it_was_used():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        y = wg.sum(x**2)  # here
        tape.watch(x)
    return tape.why(y, x)


@broken(Reason.WATCHED_LATE)
def watched_after_the_first_layer():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        hidden = wg.tanh(x)  # here
        tape.watch(x)
        y = wg.sum(hidden**2)
    return tape.why(y, x)


@broken(Reason.WATCHED_LATE)
def watched_late_in_a_loop():
    x = wg.asarray(1.5)
    total = wg.asarray(0.0)
    with wg.GradientTape() as tape:
        for _ in range(3):
            total = total + x * x  # here
        tape.watch(x)
    return tape.why(total, x)


@broken(Reason.WATCHED_LATE)
def a_variable_is_watched_late():
    v = wg.Variable([1.0, 2.0], trainable=False)
    with wg.GradientTape() as tape:
        y = wg.sum(v**2)  # here
        tape.watch(v)
    return tape.why(y, v)


# -- outside of the tape ---------------------------------------------------------------------------


@broken(Reason.NEVER_ENTERED)
def the_tape_is_never_entered():
    x = wg.asarray([1.0, 2.0])
    tape = wg.GradientTape()
    tape.watch(x)
    y = wg.sum(x**2)
    return tape.why(y, x)


@broken(Reason.NEVER_ENTERED)
def a_variable_and_no_with():
    v = wg.Variable([1.0, 2.0])
    tape = wg.GradientTape()
    loss = wg.sum(v**2)
    return tape.why(loss, v)


@broken(Reason.BEFORE)
def computed_before_the_tape():
    x = wg.asarray([1.0, 2.0])
    y = wg.sum(x**2)  # here
    with wg.GradientTape() as tape:
        tape.watch(x)
    return tape.why(y, x)


@broken(Reason.BEFORE)
def a_part_is_computed_before_the_tape():
    v = wg.Variable([1.0, 2.0])
    hidden = wg.exp(v)  # here
    with wg.GradientTape() as tape:
        y = wg.sum(hidden**2)
    return tape.why(y, v)


@broken(Reason.AFTER)
def computed_after_the_tape():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        hidden = x**2
    y = wg.sum(hidden)  # here
    return tape.why(y, x)


@broken(Reason.AFTER)
def a_variable_is_used_after_the_tape():
    v = wg.Variable(3.0)
    with wg.GradientTape() as tape:
        wg.sin(v)
    y = v * v  # here
    return tape.why(y, v)


@broken(Reason.PAUSED)
def recording_is_stopped():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            y = wg.sum(x**2)  # here
    return tape.why(y, x)


@broken(Reason.PAUSED)
def a_middle_part_while_recording_is_stopped():
    v = wg.Variable([1.0, 2.0])
    with wg.GradientTape() as tape:
        hidden = wg.exp(v)
        with tape.stop_recording():
            scaled = hidden * 3.0  # here
        y = wg.sum(scaled)
    return tape.why(y, v)


# -- the wrong question ----------------------------------------------------------------------------


@broken(Reason.SWAPPED)
def target_and_source_are_swapped():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x**2)  # here
    return tape.why(x, y)


@broken(Reason.SWAPPED)
def swapped_with_a_variable():
    v = wg.Variable(2.0)
    with wg.GradientTape() as tape:
        hidden = v * v
        y = wg.sin(hidden)  # here
    return tape.why(v, y)


@broken(Reason.OTHER_OBJECT)
def a_copy_of_the_source():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x**2)
    twin = wg.asarray([1.0, 2.0])  # here
    return tape.why(y, twin)


@broken(Reason.OTHER_OBJECT)
def a_tensor_made_of_the_values():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x**2)
    again = wg.asarray(x.numpy())  # here
    return tape.why(y, again)


@broken(Reason.OTHER_OBJECT)
def a_copy_of_a_variable():
    v = wg.Variable([1.0, 2.0])
    with wg.GradientTape() as tape:
        y = wg.sum(v**2)
    w = wg.Variable([1.0, 2.0])
    return tape.why(y, w)


@broken(Reason.UNRELATED)
def the_source_is_not_used():
    x, w = wg.asarray([1.0, 2.0]), wg.asarray(3.0)
    with wg.GradientTape() as tape:
        tape.watch([x, w])
        y = wg.sum(x**2)  # here
    return tape.why(y, w)


@broken(Reason.UNRELATED)
def a_variable_is_not_read():
    v, w = wg.Variable(2.0), wg.Variable(3.0)
    with wg.GradientTape() as tape:
        y = v * v  # here
    return tape.why(y, w)


@broken(Reason.UNRELATED)
def a_variable_is_read_for_something_else():
    v, w = wg.Variable(2.0), wg.Variable(3.0)
    with wg.GradientTape() as tape:
        wg.sin(w)
        y = v * v  # here
    return tape.why(y, w)


@broken(Reason.UNRELATED)
def a_name_is_bound_anew():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        hidden = x**2
        hidden = wg.ones(2)
        y = wg.sum(hidden * 2.0)  # here
    return tape.why(y, x)


@broken(Reason.OTHER_TAPE)
def the_other_tape_recorded_it():
    x = wg.asarray(2.0)
    with wg.GradientTape() as first:
        first.watch(x)
    with wg.GradientTape() as second:
        second.watch(x)
        y = x**3  # here
    return first.why(y, x)


@broken(Reason.OTHER_TAPE)
def two_tapes_and_a_variable():
    v = wg.Variable(2.0)
    with wg.GradientTape() as first:
        wg.sin(v)
    with wg.GradientTape() as second:
        y = wg.cos(v)  # here
    second.why(y, v)
    return first.why(y, v)


@broken(Reason.RESET)
def the_tape_is_reset():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x**2)
        tape.reset()  # here
    return tape.why(y, x)


@broken(Reason.RESET)
def the_tape_is_reset_and_watches_again():
    v = wg.Variable([1.0, 2.0])
    with wg.GradientTape() as tape:
        y = wg.sum(v**2)
        tape.reset()  # here
        wg.sum(v)
    return tape.why(y, v)


@broken(Reason.SPENT)
def the_tape_is_used_before():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x**2)
    tape.gradient(y, x)  # here
    return tape.why(y, x)


@broken(Reason.SPENT)
def the_tape_was_asked_for_another_source():
    v, w = wg.Variable(2.0), wg.Variable(3.0)
    with wg.GradientTape() as tape:
        y = v * w
    tape.gradient(y, v)  # here
    return tape.why(y, w)


@broken(Reason.NOT_A_TENSOR)
def an_array_of_numpys():
    x = np.array([1.0, 2.0])
    with wg.GradientTape() as tape:
        y = wg.sum(wg.asarray(x) ** 2)
    return tape.why(y, x)


@broken(Reason.NOT_A_TENSOR)
def the_target_is_a_number():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x**2).item()
    return tape.why(y, x)


@broken(Reason.NOT_A_TENSOR)
def the_source_is_none():
    x = wg.asarray(2.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.why(y, None)


@broken(Reason.NOT_A_TENSOR)
def a_list_of_sources():
    v, w = wg.Variable(2.0), wg.Variable(3.0)
    with wg.GradientTape() as tape:
        y = v * w
    return tape.why(y, [v, w])


@broken(Reason.NOT_A_TENSOR)
def a_text_and_an_object():
    with wg.GradientTape() as tape:
        pass
    return tape.why("y", object())
