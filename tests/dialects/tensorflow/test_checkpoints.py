"""Checkpoints: what is saved, restored at once or later, counted, kept and deleted."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert.tensorflow as ours
from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

parity = pytest.mark.parity
program = PROGRAMS = Programs()


def in_folder(use: Callable[[Any, str], Any]) -> Callable[[Any], Any]:
    """Add the program that is given a new folder, and whose answers name it `F`."""

    def run(tf: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            return without(use(tf, folder), folder)

    PROGRAMS[use.__name__] = run
    return run


def without(answer: Any, folder: str) -> Any:
    if isinstance(answer, str):
        return answer.replace(folder, "F")
    if isinstance(answer, (list, tuple)):
        return [without(part, folder) for part in answer]
    return answer


def asserted(check: Callable[[], Any]) -> str:
    try:
        check()
    except AssertionError:
        return "AssertionError"
    return "right"


def model(tf: Any, value: float = 0.0) -> Any:
    """Return a module with variables in all kinds of places."""

    class Inner(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(np.full((2, 3), value, np.float32))
            self.frozen = tf.Variable(value + 1, trainable=False, dtype=tf.float64)

    class Outer(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [Inner(), Inner()]
            self.named = {"scale": tf.Variable(value + 2), "deep": {"a.b/c": tf.Variable(value)}}
            self.pair = (tf.Variable(value + 3), 7)
            self.number, self.text, self.function = 3, "x", abs
            self.again = self.layers[0]
            self.layers[1].w.assign_add(tf.ones([2, 3]))

    return Outer()


def state(module: Any) -> list[Any]:
    return [v.numpy() for v in module.variables]


# -- saved and restored ---------------------------------------------------------------------------


@in_folder
def whole_model(tf, folder):
    one, other = model(tf, 5.0), model(tf)
    path = tf.train.Checkpoint(model=one, step=tf.Variable(3)).save(folder + "/a/b/ckpt")
    step = tf.Variable(0)
    status = tf.train.Checkpoint(model=other, step=step).restore(path)
    status.assert_consumed()
    return [path, state(other), step]


@in_folder
def values_of_all_dtypes(tf, folder):
    names = [
        "float16",
        "float32",
        "float64",
        "int8",
        "int32",
        "int64",
        "uint8",
        "bool",
        "complex64",
    ]
    values = [tf.Variable(tf.cast([0, 1, 1], name)) for name in names]
    path = tf.train.Checkpoint(values=values).write(folder + "/ckpt")
    blank = [tf.Variable(tf.zeros_like(v)) for v in values]
    tf.train.Checkpoint(values=blank).read(path).assert_consumed()
    return blank


@in_folder
def odd_shapes(tf, folder):
    shapes = [(), (0,), (2, 0, 3), (1, 1, 1), (3, 2)]
    values = [
        tf.Variable(tf.reshape(tf.range(int(np.prod(s)), dtype=tf.float32), s)) for s in shapes
    ]
    path = tf.train.Checkpoint(values=values).write(folder + "/ckpt")
    blank = [tf.Variable(tf.zeros_like(v)) for v in values]
    tf.train.Checkpoint(values=blank).read(path).assert_consumed()
    return blank


@in_folder
def open_shape(tf, folder):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(folder + "/ckpt")
    v = tf.Variable(0.0, shape=tf.TensorShape(None))
    tf.train.Checkpoint(v=v).read(path)
    return v.numpy()


@in_folder
def root_module(tf, folder):
    one, other = model(tf, 5.0), model(tf)
    path = tf.train.Checkpoint(one, step=tf.Variable(2)).write(folder + "/ckpt")
    step = tf.Variable(0)
    tf.train.Checkpoint(other, step=step).read(path).assert_consumed()
    plain = model(tf)
    partly = tf.train.Checkpoint(root=plain).read(path).expect_partial()
    return [state(other), step, state(plain), asserted(partly.assert_consumed)]


@in_folder
def checkpoint_in_checkpoint(tf, folder):
    v, w = tf.Variable(2.0), tf.Variable(0.0)
    path = tf.train.Checkpoint(inner=tf.train.Checkpoint(v=v)).write(folder + "/ckpt")
    tf.train.Checkpoint(inner=tf.train.Checkpoint(v=w)).read(path).assert_consumed()
    return w


@in_folder
def attributes(tf, folder):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    checkpoint.w = tf.Variable(2.0)
    path = checkpoint.write(folder + "/ckpt")
    checkpoint.v.assign(5.0)
    checkpoint.w.assign(5.0)
    checkpoint.read(path).assert_consumed()
    return [checkpoint.v, checkpoint.w]


@in_folder
def shared_variable(tf, folder):
    v = tf.Variable(3.0)
    path = tf.train.Checkpoint(a=v, b=v).write(folder + "/ckpt")
    first, second, only = tf.Variable(0.0), tf.Variable(0.0), tf.Variable(0.0)
    apart = tf.train.Checkpoint(a=first, b=second).read(path)
    tf.train.Checkpoint(b=only).read(path).assert_consumed()
    return [first, second, asserted(apart.assert_existing_objects_matched), only]


@in_folder
def circle(tf, folder):
    def ring(value):
        one, other = tf.Module(), tf.Module()
        one.next, other.next, other.v = other, one, tf.Variable(value)
        return one

    path = tf.train.Checkpoint(ring=ring(4.0)).write(folder + "/ckpt")
    found = ring(0.0)
    tf.train.Checkpoint(ring=found).read(path).assert_consumed()
    return found.next.v


@in_folder
def paths(tf, folder):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.save(Path(folder) / "x")
    v.assign(2.0)
    checkpoint.restore(Path(path)).assert_consumed()
    return [type(path).__name__, path, v, checkpoint.write(Path(folder) / "y")]


# -- what was found -------------------------------------------------------------------------------


@in_folder
def what_status_says(tf, folder):
    v = tf.Variable(1.0)
    path = tf.train.Checkpoint(v=v, w=tf.Variable(2.0)).write(folder + "/ckpt")
    answers = []
    for found in (
        {"v": tf.Variable(0.0)}, {"v": tf.Variable(0.0), "x": tf.Variable(0.0)},
        {"x": tf.Variable(0.0)}, {"v": tf.Variable(0.0), "w": tf.Variable(0.0)}, {},
    ):  # fmt: skip
        status = tf.train.Checkpoint(**found).read(path)
        answers.append([
            asserted(status.assert_consumed), asserted(status.assert_existing_objects_matched),
            asserted(status.assert_nontrivial_match), status.expect_partial() is status,
            [x.numpy() for x in found.values()],
        ])  # fmt: skip
    return answers


@in_folder
def status_of_nothing(tf, folder):
    status = tf.train.Checkpoint(v=tf.Variable(1.0)).restore(tf.train.latest_checkpoint(folder))
    return [
        asserted(status.assert_consumed), asserted(status.assert_existing_objects_matched),
        asserted(status.assert_nontrivial_match), status.expect_partial() is status,
    ]  # fmt: skip


@in_folder
def counter(tf, folder):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    first = checkpoint.save_counter.numpy()
    saved = [checkpoint.save(folder + "/ckpt") for _ in range(3)]
    later = tf.train.Checkpoint(v=tf.Variable(0.0))
    later.restore(saved[1]).assert_consumed()
    return [first, saved, later.save_counter, later.save(folder + "/ckpt")]


@in_folder
def write_has_no_counter(tf, folder):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(folder + "/ckpt")
    status = tf.train.Checkpoint(v=tf.Variable(0.0)).restore(path)
    saved = tf.train.Checkpoint(v=tf.Variable(1.0)).save(folder + "/ckpt")
    read = tf.train.Checkpoint(v=tf.Variable(0.0)).read(saved)
    return [
        asserted(status.assert_existing_objects_matched), asserted(read.assert_consumed),
        asserted(read.assert_existing_objects_matched), tf.train.latest_checkpoint(folder),
    ]  # fmt: skip


PROGRAMS |= {
    f"not to be saved {value!r}": lambda tf, value=value: tf.train.Checkpoint(v=value)
    for value in (1, "a", None, np.ones(2))
}
PROGRAMS["no tensor to save"] = lambda tf: tf.train.Checkpoint(v=tf.constant(1.0))
PROGRAMS["no root to save"] = lambda tf: tf.train.Checkpoint(tf.constant(1.0))


@in_folder
def other_shape(tf, folder):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(folder + "/ckpt")
    tf.train.Checkpoint(v=tf.Variable([1.0])).read(path)


@in_folder
def other_dtype(tf, folder):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(folder + "/ckpt")
    tf.train.Checkpoint(v=tf.Variable([1, 2])).read(path)


@in_folder
def missing_file(tf, folder):
    tf.train.Checkpoint(v=tf.Variable(1.0)).restore(folder + "/nothing")


@in_folder
def keys_that_are_no_strings(tf, folder):
    tf.train.Checkpoint(v={1: tf.Variable(1.0)}).write(folder + "/ckpt")


@in_folder
def lists_of_numbers_are_no_harm(tf, folder):
    v = tf.Variable(2.0)
    path = tf.train.Checkpoint(v=[1, "a", v, None], n=[1, 2]).write(folder + "/ckpt")
    v.assign(0.0)
    tf.train.Checkpoint(v=[3, "b", v, None], n=[]).read(path).assert_consumed()
    return v


# -- variables that are made later ----------------------------------------------------------------


def late(tf: Any, value: float = 0.0) -> Any:
    """Return a module that makes its variables when it is called."""

    class Dense(tf.Module):
        def __init__(self, width):
            super().__init__()
            self.width, self.built = width, False

        def __call__(self, x):
            if not self.built:
                self.w = tf.Variable(tf.fill([x.shape[-1], self.width], value + 1.0))
                self.b = tf.Variable(tf.fill([self.width], value))
                self.built = True
            return x @ self.w + self.b

    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.built = False

        def __call__(self, x):
            if not self.built:
                self.layers, self.built = [Dense(3), Dense(1)], True
                self.scales = {"last": tf.Variable(value + 2.0)}
                self.nested = [[tf.Variable(value)], {"k": tf.Variable(value + 4.0)}]
            for layer in self.layers:
                x = layer(x)
            return x * self.scales["last"] + self.nested[1]["k"]

    return Net()


@in_folder
def made_later(tf, folder):
    x = tf.constant([[1.0, 2.0]])
    one, other = late(tf, 0.5), late(tf)
    before = one(x)
    path = tf.train.Checkpoint(net=one).save(folder + "/ckpt")
    status = tf.train.Checkpoint(net=other).restore(path)
    early = [asserted(status.assert_consumed), asserted(status.assert_existing_objects_matched)]
    with tf.GradientTape() as tape:
        after = tf.reduce_sum(other(x))
    gradients = tape.gradient(after, other.trainable_variables)
    return [before, after, early, asserted(status.assert_consumed), state(other), gradients]


@in_folder
def attached_later(tf, folder):
    net = late(tf, 0.5)
    net(tf.ones([1, 2]))
    path = tf.train.Checkpoint(net=net, step=tf.Variable(3)).write(folder + "/ckpt")
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.read(path)
    other = late(tf)
    other(tf.ones([1, 2]))
    checkpoint.net = other
    partly = asserted(status.assert_consumed)
    checkpoint.step = tf.Variable(0)
    status.assert_consumed()
    return [state(other), checkpoint.step, partly]


@in_folder
def replaced_later(tf, folder):
    path = tf.train.Checkpoint(v=tf.Variable(1.0), w=tf.Variable(2.0)).write(folder + "/ckpt")
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0.0))
    checkpoint.read(path)
    checkpoint.v = tf.Variable(7.0)
    checkpoint.w = tf.Variable(8.0)
    return [checkpoint.v, checkpoint.w]


@in_folder
def later_of_another_shape(tf, folder):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(folder + "/ckpt")
    checkpoint = tf.train.Checkpoint()
    checkpoint.read(path)
    checkpoint.v = tf.Variable([1.0])


@in_folder
def restored_twice(tf, folder):
    one, two = tf.Variable(1.0), tf.Variable(2.0)
    paths = [tf.train.Checkpoint(v=v).write(f"{folder}/{i}") for i, v in enumerate([one, two])]
    checkpoint = tf.train.Checkpoint()
    for path in paths:
        checkpoint.read(path)
    checkpoint.v = tf.Variable(0.0)
    return checkpoint.v


# -- training goes on -----------------------------------------------------------------------------


@in_folder
def training_goes_on(tf, folder):
    xs = tf.constant(np.linspace(-1, 1, 8, dtype=np.float32))

    def trained(path, steps):
        v, speed = tf.Variable([0.1, 0.2]), tf.Variable([0.0, 0.0], trainable=False)
        checkpoint = tf.train.Checkpoint(v=v, speed=speed)
        checkpoint.restore(path)
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((v[0] * xs + v[1] - 3.0 * xs - 1.0) ** 2)
            speed.assign(0.9 * speed + tape.gradient(loss, v))
            v.assign_sub(0.1 * speed)
        return v, checkpoint

    whole, _ = trained(None, 10)
    _, checkpoint = trained(None, 5)
    rest, _ = trained(checkpoint.save(folder + "/ckpt"), 5)
    return [whole, rest]


@in_folder
def place_in_a_dataset(tf, folder):
    elements = iter(tf.data.Dataset.range(10).map(lambda x: x * x).batch(2))
    checkpoint = tf.train.Checkpoint(elements=elements, step=tf.Variable(0))
    next(elements)
    path = checkpoint.save(folder + "/ckpt")
    found = [next(elements), next(elements)]
    checkpoint.restore(path).assert_consumed()
    return [*found, next(elements)]


# -- folders --------------------------------------------------------------------------------------


@in_folder
def latest(tf, folder):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    answers = [tf.train.latest_checkpoint(folder), tf.train.latest_checkpoint(folder + "/none")]
    for name in ("a", "b", "a"):
        checkpoint.save(f"{folder}/{name}")
        answers.append(tf.train.latest_checkpoint(folder))
    checkpoint.write(folder + "/c")
    return [*answers, tf.train.latest_checkpoint(Path(folder))]


@in_folder
def manager(tf, folder):
    v = tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(v=v)
    kept = tf.train.CheckpointManager(checkpoint, folder + "/m", max_to_keep=2)
    answers = [kept.latest_checkpoint, kept.checkpoints, kept.directory]
    for i in range(4):
        v.assign(float(i))
        answers += [kept.save(), kept.latest_checkpoint, kept.checkpoints]
    again = tf.train.CheckpointManager(checkpoint, folder + "/m", max_to_keep=3)
    answers += [again.checkpoints, again.latest_checkpoint, again.checkpoint is checkpoint]
    answers += [again.save(checkpoint_number=17), again.checkpoints, checkpoint.save_counter]
    answers += [tf.train.latest_checkpoint(folder + "/m"), len(answers)]
    checkpoint.restore(again.checkpoints[0]).assert_consumed()
    return [*answers, v]


@in_folder
def manager_that_keeps_all(tf, folder):
    kept = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=tf.Variable(1.0)), folder, None, checkpoint_name="step"
    )
    return [[kept.save() for _ in range(4)], kept.checkpoints]


PROGRAMS["manager of none"] = lambda tf: tf.train.CheckpointManager(tf.train.Checkpoint(), "x", 0)


@parity
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])


# -- what is not as in TensorFlow -----------------------------------------------------------------


def test_only_the_file_and_the_list_of_checkpoints_are_left(tmp_path):
    tf = ours
    checkpoint = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
    kept = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=1)
    kept.save()
    kept.save()
    assert sorted(os.listdir(tmp_path)) == ["checkpoint.json", "ckpt-2.npz"]
    with np.load(tmp_path / "ckpt-2.npz") as held:
        np.testing.assert_array_equal(held["v/.ATTRIBUTES/VARIABLE_VALUE"], [1.0, 2.0])


def test_an_object_that_exposes_variables_is_saved(tmp_path):
    tf = ours

    class Momentum:
        def __init__(self, variables):
            self.variables = [tf.Variable(tf.zeros_like(v)) for v in variables]

    one, other = (Momentum([tf.Variable([1.0]), tf.Variable(2.0)]) for _ in range(2))
    one.variables[0].assign([5.0])
    path = tf.train.Checkpoint(optimizer=one).write(tmp_path / "x")
    tf.train.Checkpoint(optimizer=other).read(path).assert_consumed()
    assert other.variables[0].numpy() == [5.0]
    with pytest.raises(ValueError, match="fewer variables"):
        tf.train.Checkpoint(optimizer=Momentum([])).read(path)


def test_a_list_that_is_shorter_than_the_saved_one_is_an_error(tmp_path):
    tf = ours
    path = tf.train.Checkpoint(values=[tf.Variable(1.0), tf.Variable(2.0)]).write(tmp_path / "x")
    only = tf.Variable(9.0)
    with pytest.raises(ValueError, match="fewer variables"):
        tf.train.Checkpoint(values=[only]).read(path)
    assert only.numpy() == 9.0


def test_nothing_changes_if_something_does_not_fit(tmp_path):
    tf = ours
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable([1.0])).write(tmp_path / "x")
    a = tf.Variable(0.0)
    with pytest.raises(ValueError, match="shape"):
        tf.train.Checkpoint(a=a, b=tf.Variable([1.0, 2.0])).read(path)
    assert a.numpy() == 0.0


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    tf = ours
    v = tf.Variable(1.0)
    path = tf.train.Checkpoint(v=v).write(tmp_path / "x")
    v.assign(2.0)
    monkeypatch.setattr(np, "savez", lambda file, **arrays: file.write(b"half") and 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tf.train.Checkpoint(v=v).write(tmp_path / "x")
    assert os.listdir(tmp_path) == ["x.npz"]
    tf.train.Checkpoint(v=v).read(path)
    assert v.numpy() == 1.0


@pytest.mark.parametrize("option", ["keep_checkpoint_every_n_hours", "checkpoint_interval"])
def test_hours_and_intervals_are_refused(tmp_path, option):
    with pytest.raises(NotImplementedError, match=option):
        ours.train.CheckpointManager(ours.train.Checkpoint(), tmp_path, 1, **{option: 2})


def test_a_file_is_opened_by_numpy(tmp_path):
    path = ours.train.Checkpoint(v=ours.Variable([1.0, 2.0])).write(tmp_path / "ckpt")
    with np.load(f"{path}.npz") as arrays:
        assert arrays["v/.ATTRIBUTES/VARIABLE_VALUE"].tolist() == [1.0, 2.0]
    with pytest.raises(AttributeError, match="np.load"):
        ours.train.load_variable  # noqa: B018
