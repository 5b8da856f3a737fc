"""Values, dtypes and what tensors print."""

import operator

import numpy as np
import pytest

from tests.dialects.tensorflow.array_cases import A, B, V, grad
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity


VALUES = {
    "constant float as int": lambda tf: tf.constant(1.5, tf.int32),
    "constant complex as float": lambda tf: tf.constant(1j, tf.float32),
    "constant int as bool": lambda tf: tf.constant(1, tf.bool),
    "constant bool as int": lambda tf: tf.constant(True, tf.int32),
    "constant bool as float": lambda tf: tf.constant(True, tf.float32),
    "constant mixed bool": lambda tf: tf.constant([True, 1]),
    "constant ragged": lambda tf: tf.constant([[1, 2], [3]]),
    "constant None": lambda tf: tf.constant(None),
    "constant None inside": lambda tf: tf.constant([1.0, None]),
    "constant too large": lambda tf: tf.constant(2**63),
    "constant too large for int32": lambda tf: tf.constant(2**31, tf.int32),
    "constant too large for uint8": lambda tf: tf.constant(256, tf.uint8),
    "constant negative unsigned": lambda tf: tf.constant(-1, tf.uint8),
    "constant shape": lambda tf: tf.constant([1.0, 2.0, 3.0], shape=[2]),
    "constant shape fewer": lambda tf: tf.constant([1.0, 2.0], shape=[2, 2]),
    "constant dtype": lambda tf: tf.constant(1.0, "nothing"),
    "constant object": lambda tf: tf.constant(object()),
    "constant dict": lambda tf: tf.constant({"a": 1}),
    "constant function": lambda tf: tf.constant(lambda: 1),
    "constant tensors inside": lambda tf: tf.constant([tf.constant(1.0), tf.constant(2.0)]),
    "convert": lambda tf: [
        tf.convert_to_tensor([1, 2]),
        tf.convert_to_tensor(1.5, tf.float64),
        tf.convert_to_tensor(1.5, dtype_hint=tf.float64),
        tf.convert_to_tensor(1.5, dtype_hint=tf.int32),
        tf.convert_to_tensor(np.array([1.0])),
        tf.convert_to_tensor(np.array([1.0]), tf.float32),
        tf.convert_to_tensor(tf.Variable([1.0])),
        tf.convert_to_tensor([tf.constant(1.0), 2.0]),
        tf.convert_to_tensor([tf.constant([1.0, 2.0]), [3, 4]]),
        tf.convert_to_tensor([[tf.constant(1), 2], [3, 4]]),
        tf.convert_to_tensor([1, tf.constant(2.0)]),
        tf.convert_to_tensor((tf.Variable(1.0), 2.0)),
        tf.convert_to_tensor(tf.TensorShape([2, 3])),
        tf.convert_to_tensor([np.float64(1.0), tf.constant(2.0, tf.float64)]),
        tf.convert_to_tensor(
            tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([1, 1]), tf.constant([3, 1]))
        ),
        tf.convert_to_tensor([1, 2], dtype="float32"),
        tf.convert_to_tensor([]),
        tf.convert_to_tensor([], tf.int32),
        tf.convert_to_tensor([True]),
    ],
    "convert dtype of tensor": lambda tf: tf.convert_to_tensor(tf.constant(1.0), tf.float64),
    "convert dtype of variable": lambda tf: tf.convert_to_tensor(tf.Variable(1.0), tf.int32),
    "convert mixed": lambda tf: tf.convert_to_tensor([tf.constant(1.0), tf.constant(2)]),
    "convert shapes": lambda tf: tf.convert_to_tensor([tf.constant([1.0]), tf.constant(2.0)]),
    "convert None": lambda tf: tf.convert_to_tensor(None),
    "convert unknown shape": lambda tf: tf.convert_to_tensor(tf.TensorShape([None, 3])),
    "convert slices without shape": lambda tf: tf.convert_to_tensor(
        tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
    ),
    "convert packed gradient": lambda tf: grad(
        tf, lambda x, y: tf.convert_to_tensor([[x[0], y], [y, 2.0]]) ** 2, V, np.float32(3.0)
    ),
    "tensor": lambda tf: [
        (
            lambda x: [
                x.shape,
                x.dtype,
                x.ndim,
                x.numpy(),
                x.get_shape(),
                x.set_shape([2, 3]),
                x.shape == (2, 3),
                x.shape == [2, 3],
                x.shape != (2, 3),
                tuple(x.shape),
                x.shape[0],
                x.shape.as_list(),
                x.dtype == tf.float32,
                x.dtype == "float32",
                x.dtype == np.float32,
                x.ref() == x.ref(),
                hash(x.ref()) == hash(x.ref()),
                x.ref().deref() is x,
                np.asarray(x),
                np.array(x, dtype=np.float64),
                np.sum(x),
                np.square(x),
                tf.is_tensor(x),
                isinstance(x, tf.Tensor),
                tf.is_tensor(1.0),
                tf.is_tensor(tf.Variable(1.0)),
                x.dtype.name,
                len(x),
                x.device.rpartition("/")[2],
                x.experimental_ref() == x.ref(),
            ]
        )(tf.constant(A))
    ],
    "tensor as number": lambda tf: [
        float(tf.constant(1.5)),
        int(tf.constant(3)),
        int(tf.constant(3.7)),
        bool(tf.constant(True)),
        bool(tf.constant(0.0)),
        complex(tf.constant(1j)),
        [1, 2, 3][tf.constant(1)],
        round(float(tf.constant(1.26)), 1),
        list(range(tf.constant(3))),
        f"{tf.constant(1.5):.2f}",
        f"{tf.constant(3)}",
        f"{tf.constant(1.1)}",
        operator.mod("%.3f", tf.constant(1.5)),
        tf.constant(3).numpy() + 1,
        tf.constant(1.0).numpy().dtype,
        bool(tf.constant([1])),
    ],
    "bool of many": lambda tf: bool(tf.constant([1, 2])),
    "float of many": lambda tf: float(tf.constant([1.0, 2.0])),
    "index of float": lambda tf: [1, 2][tf.constant(1.0)],
    "hash": lambda tf: hash(tf.constant(1.0)),
    "set_shape": lambda tf: tf.constant(A).set_shape([3, 2]),
    "tensor reshape": lambda tf: tf.constant(A).reshape([6]),
    "tensor T": lambda tf: tf.constant(A).T,
    "tensor astype": lambda tf: tf.constant(A).astype("float64"),
    "tensor name": lambda tf: tf.constant(A).name,
    "tensor assign": lambda tf: tf.constant(A).assign(A),
    "new tensor": lambda tf: hasattr(tf.constant(1.0), "assign_add"),
    "deep copy": lambda tf: (
        lambda copy: [
            copy.deepcopy(tf.constant(A)),
            copy.copy(tf.constant(A)),
            copy.deepcopy(tf.Variable(A)),
        ]
    )(__import__("copy")),
}

SHOWN = {
    f"print {name}": (lambda tf, make=make: [repr(make(tf)), str(make(tf)), f"{make(tf)}"])
    for name, make in {
        "float": lambda tf: tf.constant(1.1),
        "double": lambda tf: tf.constant(1.1, tf.float64),
        "half": lambda tf: tf.constant(1.1, tf.float16),
        "int": lambda tf: tf.constant(3),
        "bool": lambda tf: tf.constant(True),
        "complex": lambda tf: tf.constant(1 + 2j),
        "complex64": lambda tf: tf.constant(1.1 + 2j, tf.complex64),
        "uint8": lambda tf: tf.constant(3, tf.uint8),
        "nan": lambda tf: tf.constant(float("nan")),
        "inf": lambda tf: tf.constant([float("inf"), 1.0]),
        "vector": lambda tf: tf.constant(V),
        "doubles": lambda tf: tf.constant([1.0, 2.5], tf.float64),
        "ints": lambda tf: tf.constant([1, 2, 3]),
        "int64s": lambda tf: tf.constant([1, 2], tf.int64),
        "bools": lambda tf: tf.constant([True, False]),
        "complexes": lambda tf: tf.constant([1 + 2j, 3j]),
        "matrix": lambda tf: tf.constant(A),
        "three axes": lambda tf: tf.constant(B),
        "one row": lambda tf: tf.constant([[1.0, 2.0]]),
        "one column": lambda tf: tf.constant([[1], [2]]),
        "empty": lambda tf: tf.constant([]),
        "empty matrix": lambda tf: tf.zeros([0, 3]),
        "empty ints": lambda tf: tf.zeros([2, 0], tf.int32),
        "long": lambda tf: tf.range(40),
        "many floats": lambda tf: tf.linspace(0.0, 1.0, 30),
        "one": lambda tf: tf.constant([1.0]),
        "one deep": lambda tf: tf.constant([[[1.0]]]),
        "variable": lambda tf: tf.Variable(1.1),
        "variable vector": lambda tf: tf.Variable(V),
        "variable matrix": lambda tf: tf.Variable(A, name="w"),
        "variable ints": lambda tf: tf.Variable([1, 2], name="n", trainable=False),
        "variable empty": lambda tf: tf.Variable(tf.zeros([0, 2])),
        "shape": lambda tf: tf.TensorShape([1, None, 3]),
        "shape one": lambda tf: tf.TensorShape([2]),
        "shape none": lambda tf: tf.TensorShape([]),
        "shape unknown": lambda tf: tf.TensorShape(None),
        "dtype": lambda tf: tf.float32,
        "dtype bool": lambda tf: tf.bool,
        "dtype complex": lambda tf: tf.complex128,
        "slices": lambda tf: str(
            tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))
        ),
        "numpy": lambda tf: tf.constant(A).numpy(),
        "list of tensors": lambda tf: [tf.constant(1.0), tf.constant([1, 2])],
    }.items()
}

KINDS = {
    "dtype": lambda tf: [
        [
            d.name,
            d.size,
            d.is_floating,
            d.is_integer,
            d.is_complex,
            d.is_bool,
            d.is_unsigned,
            d.is_numpy_compatible,
            d.is_numeric,
            d.is_quantized,
            d.as_numpy_dtype.__name__,
            d.real_dtype.name,
            d.base_dtype.name,
        ]
        for d in (
            tf.float16,
            tf.float32,
            tf.float64,
            tf.int8,
            tf.int32,
            tf.int64,
            tf.uint8,
            tf.uint32,
            tf.bool,
            tf.complex64,
            tf.complex128,
        )
    ],
    "dtype limits": lambda tf: (
        [
            [float(d.min), float(d.max)]
            for d in (tf.float16, tf.float32, tf.float64, tf.int8, tf.uint16)
        ]
        + [tf.int64.max]
    ),
    "dtype bool limits": lambda tf: tf.bool.max,
    "dtype complex limits": lambda tf: tf.complex64.max,
    "dtype equality": lambda tf: [
        tf.float32 == tf.float32,
        tf.float32 == "float32",
        tf.float32 == np.float32,
        tf.float32 == np.dtype("float32"),
        tf.float32 != tf.float64,
        tf.float32 is None,
        tf.half is tf.float16,
        tf.double == tf.float64,
        {tf.float32: 1}[tf.float32],
        operator.eq(tf.int32, int),
        operator.eq(tf.float32, float),
        operator.eq(tf.bool, bool),
        tf.float32 == "nothing",
        tf.float32.is_compatible_with("float32"),
        tf.float32.is_compatible_with(tf.float64),
    ],
    "as_dtype": lambda tf: [
        tf.as_dtype(v)
        for v in (
            "float32",
            "half",
            "double",
            "int64",
            np.float64,
            np.dtype("int8"),
            tf.int32,
            float,
            bool,
            np.complex64,
            "bool",
            "float",
        )
    ],
    "as_dtype bad": lambda tf: tf.as_dtype("nothing"),
    "as_dtype None": lambda tf: tf.as_dtype(None),
    "dtype call": lambda tf: tf.dtypes.as_dtype("float16"),
    "numpy of dtype": lambda tf: [
        np.zeros(2, tf.float32.as_numpy_dtype),
        np.dtype(tf.int32.as_numpy_dtype),
    ],
    "numpy takes dtype": lambda tf: np.zeros(2, tf.float32).dtype.name,
    "shape": lambda tf: [
        (
            lambda s: [
                s.rank,
                s.ndims,
                s.as_list(),
                s.num_elements(),
                s.is_fully_defined(),
                list(s),
                len(s),
                s[0],
                s[-1],
                s[1:],
                s[:1],
                s.concatenate([4]),
                operator.add(s, [5]),
                operator.add([1], s),
                operator.add(s, (None,)),
                s == [2, 3],
                s == (2, 3),
                s == tf.TensorShape([2, 3]),
                s != [2, 4],
                s == [2, None],
                operator.eq(s, None),
                s.is_compatible_with([2, None]),
                s.is_compatible_with([2, 4]),
                s.is_compatible_with(None),
                s.merge_with([None, 3]),
                s.with_rank(2),
                s.assert_is_fully_defined(),
                bool(s),
                hash(s) == hash(tf.TensorShape([2, 3])),
                2 in s,
                tuple(s),
                [*s, 7],
                int(s[0]) * 2,
            ]
        )(tf.TensorShape([2, 3]))
    ],
    "shape unknown": lambda tf: [
        (
            lambda s: [
                s.rank,
                s.num_elements(),
                s.is_fully_defined(),
                bool(s),
                s.concatenate([2]),
                s.merge_with([2]),
                s == tf.TensorShape(None),
                operator.eq(s, None),
                s.with_rank(2),
                s.is_compatible_with([1]),
            ]
        )(tf.TensorShape(None))
    ],
    "shape partly": lambda tf: [
        (
            lambda s: [
                s.rank,
                s.num_elements(),
                s.is_fully_defined(),
                s.as_list(),
                s[0],
                s[1],
                list(s),
                s == [None, 3],
                s == tf.TensorShape([None, 3]),
                s.merge_with([2, 3]),
                s[1:],
            ]
        )(tf.TensorShape([None, 3]))
    ],
    "shape made": lambda tf: [
        tf.TensorShape(3),
        tf.TensorShape((2, 3)),
        tf.TensorShape([np.int64(2)]),
        tf.TensorShape(tf.TensorShape([1])),
        tf.TensorShape([]).num_elements(),
        tf.TensorShape([]).rank,
        tf.TensorShape([0]).num_elements(),
        bool(tf.TensorShape([])),
    ],
    "shape list of unknown": lambda tf: tf.TensorShape(None).as_list(),
    "shape len of unknown": lambda tf: len(tf.TensorShape(None)),
    "shape merge": lambda tf: tf.TensorShape([2]).merge_with([3]),
    "shape rank": lambda tf: tf.TensorShape([2]).with_rank(2),
    "shape assert": lambda tf: tf.TensorShape([2]).assert_is_compatible_with([3]),
    "shape assert defined": lambda tf: tf.TensorShape([None]).assert_is_fully_defined(),
    "shape far": lambda tf: tf.TensorShape([2])[3],
    "shape string": lambda tf: tf.TensorShape("ab"),
    "shape negative": lambda tf: tf.TensorShape([-1]),
    "shape very negative": lambda tf: tf.TensorShape([-2]),
    "shape float": lambda tf: tf.TensorShape([2.5]),
    "slices": lambda tf: [
        (
            lambda s: [
                s.values,
                s.indices,
                s.dense_shape,
                s.shape,
                s.dtype,
                -s,
                tf.convert_to_tensor(s),
                tf.convert_to_tensor(s) * 2,
            ]
        )(
            tf.IndexedSlices(
                values=tf.constant([[1.0, 2.0], [3.0, 4.0]]),
                indices=tf.constant([0, 2]),
                dense_shape=tf.constant([3, 2]),
            )
        )
    ],
    "slices no shape": lambda tf: [
        (lambda s: [s.values, s.indices, s.dense_shape])(
            tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
        )
    ],
}


PROGRAMS = {**VALUES, **SHOWN, **KINDS}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_program(name):
    compare(PROGRAMS[name])
