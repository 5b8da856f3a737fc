"""Whole loops with tf.keras and a GradientTape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.keras.parity import compare

pytestmark = [
    pytest.mark.parity,
    # Keras's own warnings, which it gives with TensorFlow as well
    pytest.mark.filterwarnings("ignore:.*num_classes > 1:SyntaxWarning"),
    pytest.mark.filterwarnings("ignore:Gradients do not exist"),
]

program = PROGRAMS = Programs()


Y = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], "f")
P = np.array([[0.1, 0.8, 0.1], [0.6, 0.3, 0.1]], "f")
L = np.array([[1.0, 2.0, -1.0], [0.5, 0.1, 0.2]], "f")


def opt_run(tf: Any, o: Any, n: int = 4) -> Any:
    v = tf.Variable([1.0, -2.0, 3.0])
    m = tf.Variable([[0.5, 0.5]])
    for _ in range(n):
        with tf.GradientTape() as t:
            loss = tf.reduce_sum(v**4) + tf.reduce_sum(tf.sin(m * v[0]))
        gs = t.gradient(loss, [v, m])
        o.apply_gradients(zip(gs, [v, m], strict=True))
    return v, m, int(o.iterations), [tuple(w.shape) for w in o.variables]


@program
def loss_objects(tf: Any) -> Any:
    k = tf.keras.losses
    out = {}
    for n in [
        "MeanSquaredError",
        "MeanAbsoluteError",
        "MeanAbsolutePercentageError",
        "MeanSquaredLogarithmicError",
        "Huber",
        "LogCosh",
        "KLDivergence",
        "Poisson",
        "Hinge",
        "SquaredHinge",
        "CategoricalHinge",
        "CosineSimilarity",
        "BinaryCrossentropy",
        "CategoricalCrossentropy",
        "BinaryFocalCrossentropy",
        "CategoricalFocalCrossentropy",
    ]:
        loss = getattr(k, n)()
        out[n] = [
            loss(Y, P),
            loss(tf.constant(Y), tf.constant(P)),
            loss(Y.tolist(), P.tolist()),
            loss(y_true=Y, y_pred=P, sample_weight=[1.0, 2.0]),
            getattr(k, n)(reduction="sum")(Y, P),
            getattr(k, n)(reduction="none")(Y, P),
            loss.name,
        ]
    return out


@program
def loss_logits(tf: Any) -> Any:
    k = tf.keras.losses
    x = tf.Variable(L)
    with tf.GradientTape(persistent=True) as t:
        a = k.CategoricalCrossentropy(from_logits=True)(Y, x)
        b = k.BinaryCrossentropy(from_logits=True)(Y, x)
        c = k.SparseCategoricalCrossentropy(from_logits=True)(np.array([1, 0]), x)
        d = k.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)(Y, x)
        e = k.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)(np.array([1, 0]), x)
    return [(v, t.gradient(v, x)) for v in (a, b, c, d, e)]


@program
def loss_probs(tf: Any) -> Any:
    k = tf.keras.losses
    x = tf.Variable(P)
    with tf.GradientTape(persistent=True) as t:
        vs = [
            k.CategoricalCrossentropy()(Y, x),
            k.BinaryCrossentropy()(Y, x),
            k.SparseCategoricalCrossentropy()(np.array([[1], [0]]), x),
            k.KLDivergence()(Y, x),
            k.Poisson()(Y, x),
            k.CosineSimilarity(axis=0)(Y, x),
            k.Huber(delta=0.2)(Y, x),
            k.Dice()(Y, x),
            k.Tversky()(Y, x),
        ]
    return [(v, t.gradient(v, x)) for v in vs]


@program
def loss_fn(tf: Any) -> Any:
    k = tf.keras.losses
    return [
        f(Y, P)
        for f in (
            k.mse,
            k.mae,
            k.MSE,
            k.MAE,
            k.mape,
            k.msle,
            k.huber,
            k.logcosh,
            k.kld,
            k.KLD,
            k.poisson,
            k.hinge,
            k.squared_hinge,
            k.categorical_hinge,
            k.cosine_similarity,
            k.binary_crossentropy,
            k.categorical_crossentropy,
        )
    ]


@program
def loss_fn_missing(tf: Any) -> Any:
    return tf.keras.losses.mean_squared_error(Y, P)


@program
def loss_get(tf: Any) -> Any:
    return (
        [
            tf.keras.losses.get(n)(Y, P)
            for n in (
                "mse",
                "mean_squared_error",
                "mae",
                "categorical_crossentropy",
                "kl_divergence",
                "log_cosh",
                "huber",
            )
        ],
        tf.keras.losses.get("MeanSquaredError")(Y, P),
    )


@program
def loss_get_bad(tf: Any) -> Any:
    return tf.keras.losses.get("nope")


@program
def loss_shapes(tf: Any) -> Any:
    k = tf.keras.losses
    return (
        k.MeanSquaredError()(np.array([1.0, 2.0]), np.array([[1.0], [3.0]])),
        k.MeanSquaredError()(tf.constant([[1.0], [2.0]]), tf.constant([1.0, 3.0])),
        k.BinaryCrossentropy()([0.0, 1.0], [0.3, 0.6]),
        k.mse([1.0, 2.0], [1.0, 4.0]),
        k.MeanSquaredError()([1, 2], [1.5, 2.5]),
        k.MeanSquaredError()(np.ones((2, 2)), np.zeros((2, 2))),
    )


@program
def loss_scalar(tf: Any) -> Any:
    return tf.keras.losses.MeanSquaredError()(1.0, 2.0)


@program
def loss_scalar_fn(tf: Any) -> Any:
    return tf.keras.losses.mse(1.0, 2.0)


@program
def loss_mismatch(tf: Any) -> Any:
    return tf.keras.losses.MeanSquaredError()(tf.ones([2, 3]), tf.ones([2, 2]))


@program
def loss_cce_mismatch(tf: Any) -> Any:
    return tf.keras.losses.CategoricalCrossentropy()(tf.ones([2, 3]), tf.ones([2, 2]))


@program
def loss_red_bad(tf: Any) -> Any:
    return tf.keras.losses.MeanSquaredError(reduction="bad")


@program
def loss_f64(tf: Any) -> Any:
    return (
        tf.keras.losses.MeanSquaredError()(
            tf.constant([1.0], tf.float64), tf.constant([2.0], tf.float64)
        ),
        tf.keras.losses.mse(tf.constant([1.0], tf.float64), tf.constant([2.0], tf.float64)),
        tf.keras.losses.MeanSquaredError(dtype="float64")([1.0], [2.0]),
    )


@program
def loss_custom(tf: Any) -> Any:

    class W(tf.keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.square(y_true - y_pred) * [1.0, 2.0, 3.0], axis=-1)

    return (W()(Y, P), W(reduction="sum")(Y, P), W(name="w").name)


@program
def apply(tf: Any) -> Any:
    w = tf.Variable([3.0, 4.0])
    opt = tf.keras.optimizers.SGD(learning_rate=0.1)
    for _ in range(3):
        with tf.GradientTape() as t:
            y = tf.reduce_sum(w**2)
        g = t.gradient(y, [w])
        opt.apply_gradients(zip(g, [w], strict=False))
    return w.value()


@program
def adam(tf: Any) -> Any:
    w = tf.Variable([3.0, 4.0])
    opt = tf.keras.optimizers.Adam(0.1)
    for _ in range(3):
        with tf.GradientTape() as t:
            y = tf.reduce_sum(w**2)
        opt.apply_gradients([(t.gradient(y, w), w)])
    return w.value(), opt.iterations.numpy()


@program
def opts(tf: Any) -> Any:
    k = tf.keras.optimizers
    return {
        n: opt_run(tf, getattr(k, n)())
        for n in (
            "SGD",
            "Adam",
            "AdamW",
            "RMSprop",
            "Adagrad",
            "Adadelta",
            "Adamax",
            "Nadam",
            "Ftrl",
            "Lion",
            "Lamb",
        )
    }


@program
def opts2(tf: Any) -> Any:
    k = tf.keras.optimizers
    return [
        opt_run(tf, o)
        for o in (
            k.SGD(0.1, momentum=0.9),
            k.SGD(learning_rate=0.01, momentum=0.9, nesterov=True),
            k.Adam(0.01, amsgrad=True),
            k.Adam(learning_rate=0.1, beta_1=0.5, beta_2=0.9, epsilon=0.001),
            k.RMSprop(0.01, centered=True, momentum=0.5),
            k.SGD(0.1, clipnorm=1.0),
            k.SGD(0.1, clipvalue=0.5),
            k.SGD(0.1, global_clipnorm=1.0),
            k.Adam(0.1, weight_decay=0.01),
            k.Adam(0.01, use_ema=True, ema_momentum=0.9),
            k.SGD(0.01, gradient_accumulation_steps=2),
        )
    ]


@program
def opt_sched(tf: Any) -> Any:
    k = tf.keras.optimizers
    s = k.schedules
    r = []
    for sc in (
        s.ExponentialDecay(0.1, 2, 0.5),
        s.ExponentialDecay(0.1, decay_steps=2, decay_rate=0.5, staircase=True),
        s.PolynomialDecay(0.1, 5, 0.01, power=2.0),
        s.CosineDecay(0.1, 5),
        s.CosineDecay(0.0, 5, warmup_target=0.1, warmup_steps=2),
        s.PiecewiseConstantDecay([1, 3], [0.1, 0.05, 0.01]),
        s.InverseTimeDecay(0.1, 1, 0.5),
        s.CosineDecayRestarts(0.1, 2),
    ):
        r.append(([sc(i) for i in range(6)], opt_run(tf, k.SGD(sc))))
    return r


@program
def opt_sched_custom(tf: Any) -> Any:

    class S(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, d):
            self.d = tf.cast(d, tf.float32)

        def __call__(self, step):
            step = tf.cast(step, tf.float32)
            return tf.math.rsqrt(self.d) * tf.math.minimum(tf.math.rsqrt(step + 1), step * 0.01)

    o = tf.keras.optimizers.Adam(S(16), beta_1=0.9, beta_2=0.98, epsilon=1e-09)
    return (opt_run(tf, o), o.learning_rate)


@program
def opt_lr(tf: Any) -> Any:
    o = tf.keras.optimizers.Adam(0.1)
    a = float(o.learning_rate)
    o.learning_rate = 0.01
    b = o.learning_rate.numpy()
    o.learning_rate.assign(0.5)
    return (a, b, float(o.learning_rate), o.get_config()["beta_1"])


@program
def opt_int_lr(tf: Any) -> Any:
    return tf.keras.optimizers.SGD(1)


@program
def opt_lr_kw(tf: Any) -> Any:
    return tf.keras.optimizers.SGD(lr=0.1)


@program
def opt_none(tf: Any) -> Any:
    v = tf.Variable(1.0)
    o = tf.keras.optimizers.SGD(0.1)
    o.apply_gradients([(None, v)])
    return v


@program
def opt_some_none(tf: Any) -> Any:
    v = tf.Variable(1.0)
    w = tf.Variable(1.0)
    o = tf.keras.optimizers.SGD(0.1)
    o.apply_gradients([(tf.constant(1.0), v), (None, w)])
    return (v, w)


@program
def opt_empty(tf: Any) -> Any:
    return tf.keras.optimizers.SGD(0.1).apply_gradients([])


@program
def opt_apply(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    o = tf.keras.optimizers.Adam(0.1)
    o.build([v])
    o.apply([tf.constant([1.0, 1.0])])
    o.apply([tf.constant([1.0, 1.0])], [v])
    return v


@program
def opt_minimize(tf: Any) -> Any:
    v = tf.Variable(1.0)
    return tf.keras.optimizers.SGD(0.1).minimize(lambda: v**2, [v])


@program
def opt_new_var(tf: Any) -> Any:
    v = tf.Variable(1.0)
    w = tf.Variable(1.0)
    o = tf.keras.optimizers.Adam(0.1)
    o.apply_gradients([(tf.constant(1.0), v)])
    o.apply_gradients([(tf.constant(1.0), w)])
    return w


@program
def opt_sparse(tf: Any) -> Any:
    r = []
    for n in ("SGD", "Adam", "Adagrad", "RMSprop"):
        e = tf.Variable(tf.reshape(tf.range(8.0), [4, 2]))
        o = getattr(tf.keras.optimizers, n)(0.1)
        for _ in range(3):
            with tf.GradientTape() as t:
                loss = tf.reduce_sum(tf.gather(e, [1, 3, 1]) ** 2)
            o.apply_gradients([(t.gradient(loss, e), e)])
        r.append(e)
    return r


@program
def opt_f64(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], dtype=tf.float64)
    o = tf.keras.optimizers.Adam(0.1)
    o.apply_gradients([(tf.constant([1.0, 0.5], tf.float64), v)])
    return (v, o.variables[2].numpy())


@program
def opt_get(tf: Any) -> Any:
    return (
        type(tf.keras.optimizers.get("adam")).__name__,
        type(tf.keras.optimizers.get("SGD")).__name__,
        float(tf.keras.optimizers.get("adam").learning_rate),
    )


@program
def opt_shape_err(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    tf.keras.optimizers.SGD(0.1).apply_gradients([(tf.constant([1.0, 2.0, 3.0]), v)])
    return v


@program
def metrics(tf: Any) -> Any:
    m = tf.keras.metrics
    a = m.Mean(name="x")
    a.update_state([1.0, 2.0, 3.0])
    a(4.0)
    r = [a.result(), a.name, float(a.result())]
    a.reset_state()
    r.append(a.result())
    b = m.SparseCategoricalAccuracy()
    b.update_state([1, 0], P)
    c = m.BinaryAccuracy(threshold=0.4)
    c.update_state([0.0, 1.0], [0.3, 0.6])
    d = m.MeanSquaredError()
    d(Y, P)
    e = m.CategoricalAccuracy()
    e(Y, P)
    f = m.RootMeanSquaredError()
    f(Y, P)
    g = m.Sum()
    g([1.0, 2.0])
    h = m.Accuracy()
    h([1, 2, 3], [1, 2, 4])
    i = m.MeanAbsoluteError()
    i(Y, P, sample_weight=[1.0, 0.0])
    j = m.CosineSimilarity()
    j(Y, P)
    return (r, [q.result() for q in (b, c, d, e, f, g, h, i, j)])


@program
def metric_mean_w(tf: Any) -> Any:
    m = tf.keras.metrics.Mean()
    m.update_state([1.0, 3.0], sample_weight=[1.0, 0.0])
    m.update_state(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    return (m.result(), [w.numpy() for w in m.variables])


@program
def metric_tensor(tf: Any) -> Any:
    q = tf.keras.metrics.MeanTensor()
    q.update_state([1.0, 2.0])
    return q.result()


@program
def metric_str(tf: Any) -> Any:
    a = tf.keras.metrics.Mean()
    a(3.0)
    return (f"{a.result():.2f}", f"loss {a.result()}", str(a.result().numpy()), repr(a))


@program
def metric_custom(tf: Any) -> Any:

    class M(tf.keras.metrics.Metric):
        def __init__(self, name="m", **kw):
            super().__init__(name=name, **kw)
            self.t = self.add_weight(name="t", initializer="zeros")

        def update_state(self, x, sample_weight=None):
            self.t.assign_add(tf.reduce_sum(x))

        def result(self):
            return self.t

    m = M()
    m.update_state([1.0, 2.0])
    m(3.0)
    return m.result() + 0.0


@program
def acts(tf: Any) -> Any:
    a = tf.keras.activations
    x = tf.constant([-2.0, -0.5, 0.0, 0.5, 2.0])
    out = {}
    for n in (
        "relu",
        "elu",
        "selu",
        "softplus",
        "softsign",
        "tanh",
        "sigmoid",
        "hard_sigmoid",
        "silu",
        "swish",
        "gelu",
        "exponential",
        "linear",
        "mish",
        "leaky_relu",
        "relu6",
        "celu",
        "log_sigmoid",
        "hard_silu",
        "hard_tanh",
        "tanh_shrink",
        "soft_shrink",
        "hard_shrink",
        "squareplus",
    ):
        with tf.GradientTape() as t:
            t.watch(x)
            y = getattr(a, n)(x)
        out[n] = (y,)
    return (
        out,
        a.softmax(tf.ones([2, 3])),
        a.get("relu")(x),
        a.get(None)(x),
        a.softmax(x[None]),
        a.relu(x, max_value=1.0),
        a.relu(x, 0.1),
    )


@program
def act_softmax1(tf: Any) -> Any:
    return tf.keras.activations.softmax(tf.constant([1.0, 2.0]))


@program
def inits(tf: Any) -> Any:
    i = tf.keras.initializers
    return (
        i.Zeros()([2, 3]),
        i.Ones()((2,)),
        i.Constant(3.0)([2]),
        i.Identity(gain=2.0)((2, 2)),
        i.get("zeros")([2]),
        i.GlorotUniform(seed=1)((2, 3)).shape,
        i.HeNormal()([3, 3]).dtype,
        tf.zeros_initializer()([2]),
        tf.ones_initializer()(shape=(2,), dtype=tf.float64),
        tf.constant_initializer(2.0)([2, 2]),
        tf.random_normal_initializer(seed=1)([2]).shape,
    )


@program
def utils(tf: Any) -> Any:
    return (
        tf.keras.utils.to_categorical([0, 2, 1]),
        tf.keras.utils.to_categorical([0, 1], num_classes=4),
        tf.keras.utils.normalize(np.array([[3.0, 4.0]])),
        tf.keras.backend.epsilon(),
        tf.keras.backend.floatx(),
    )


@program
def reg(tf: Any) -> Any:
    x = tf.Variable([1.0, -2.0])
    with tf.GradientTape() as t:
        loss = (
            tf.keras.regularizers.L2(0.1)(x)
            + tf.keras.regularizers.l1(0.2)(x)
            + tf.keras.regularizers.L1L2(l1=0.1, l2=0.1)(x)
        )
    return (loss, t.gradient(loss, x))


@program
def train_again(tf: Any) -> Any:
    W = tf.Variable(tf.zeros([2, 1]))
    b = tf.Variable([0.0])
    X = tf.constant(np.linspace(-1, 1, 16).reshape(8, 2).astype("f"))
    y = tf.reduce_sum(X, 1, keepdims=True) * 2 + 1
    opt = tf.keras.optimizers.Adam(learning_rate=0.05)
    lf = tf.keras.losses.MeanSquaredError()
    m = tf.keras.metrics.Mean()
    ds = tf.data.Dataset.from_tensor_slices((X, y)).batch(3)

    @tf.function
    def step(x, t):
        with tf.GradientTape() as tape:
            loss = lf(t, x @ W + b)
        opt.apply_gradients(zip(tape.gradient(loss, [W, b]), [W, b], strict=False))
        return loss

    for _e in range(4):
        m.reset_state()
        for x, t in ds:
            m.update_state(step(x, t))
    return (W, b, m.result(), int(opt.iterations))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
