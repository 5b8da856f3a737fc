"""Programs that the tests inspect, as text: each is run as a script of its own."""

#: A small network with weights that are the same each time.
NETWORK = """
import numpy as np
import wengert as wg

rng = np.random.default_rng(3)
rows, columns = np.mgrid[0:24, 0:24]
blob = np.exp(-((rows - 9) ** 2 + (columns - 14) ** 2) / 30)
image = wg.asarray(blob + 0.1 * rng.normal(size=(24, 24)))
kernel = wg.Variable(rng.normal(size=(3, 3)), name="kernel")
with wg.GradientTape(persistent=True) as tape:
    tape.watch(image)
    edges = sum(kernel[i, j] * image[i : i + 22, j : j + 22] for i in range(3) for j in range(3))
    bent = wg.tanh(edges)
    beside = bent[:-2, 1:-1] + bent[2:, 1:-1] + bent[1:-1, :-2] + bent[1:-1, 2:]
    smooth = bent[1:-1, 1:-1] + 0.5 * beside
    score = wg.sum(smooth**2)
tape.gradient(score, kernel)
rounded = wg.floor(image)
"""

#: The network of the issue: six convolutions of an image of 256 by 256.
SIX_CONVOLUTIONS = """
import numpy as np
import wengert as wg

rng = np.random.default_rng(0)
image = wg.asarray(rng.normal(size=(1, 1, 256, 256)).astype(np.float32))
kernels = [
    wg.Variable(0.3 * rng.normal(size=(o, i, 3, 3)).astype(np.float32), name=f"kernel {n}")
    for n, (i, o) in enumerate([(1, 8)] + [(8, 8)] * 4 + [(8, 1)])
]
with wg.GradientTape() as tape:
    tape.watch(image)
    h = image
    for kernel in kernels:
        h = wg.nn.relu(wg.nn.conv2d(h, kernel, padding="same"))
    y = h
"""

#: A tape of 100,000 nodes; it prints when it is at its end.
LONG = """
import time
import wengert as wg

w = wg.Variable([1.0, 0.5], name="w")
with wg.GradientTape() as tape:
    y = wg.asarray([1.0, 1.0])
    for k in range(50_000):
        y = wg.sin(y * w)
    loss = wg.sum(y)
print(f"ended {time.time()}", flush=True)
"""

NOT_A_NUMBER = """
import numpy as np
import wengert as wg

np.seterr(all="ignore")
x = wg.asarray([4.0, 1.0, -1.0, 9.0])
with wg.GradientTape() as tape:
    tape.watch(x)
    shifted = x - 0.5
    logs = wg.log(shifted)
    scaled = 3.0 * logs
    loss = wg.sum(scaled)
tape.gradient(loss, x)
"""

TRAINING = """
import itertools
import time

import numpy as np
import wengert as wg

rng = np.random.default_rng(1)
x, y = rng.normal(size=(64, 8)), rng.normal(size=(64, 1))
first = wg.Variable(rng.normal(size=(8, 16)) * 0.3, name="first")
second = wg.Variable(rng.normal(size=(16, 1)) * 0.3, name="second")
optimiser = wg.optim.Adam(0.02)
state = optimiser.init([first, second])
for step in itertools.count():
    with wg.GradientTape() as tape:
        loss = wg.mean((wg.tanh(x @ first) @ second - y) ** 2)
    gradients = tape.gradient(loss, [first, second])
    _, state = optimiser.step([first, second], gradients, state)
    time.sleep(0.01)
"""
