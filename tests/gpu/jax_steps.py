"""Training steps in JAX, whose memory is one pool of 40 % of the GPU's (or XLA_PYTHON_CLIENT_MEM_FRACTION): convolution, a
scan, and gradients. Prints the loss, a sort and a transform."""
import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", ".4")
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")
import jax
import jax.numpy as jnp

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 3
keys = jax.random.split(jax.random.PRNGKey(1), 6)
weights = {
    "filter": 0.1 * jax.random.normal(keys[0], (5, 5, 3, 16)),
    "first": 0.02 * jax.random.normal(keys[1], (16 * 16 * 16, 192)),
    "again": 0.07 * jax.random.normal(keys[2], (192, 192)),
    "last": 0.07 * jax.random.normal(keys[3], (192, 10)),
}


def model(w, images):
    x = jax.lax.conv_general_dilated(images, w["filter"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = jnp.tanh(jax.nn.relu(x).reshape(len(images), -1) @ w["first"])
    x, _ = jax.lax.scan(lambda h, _: (0.5 * h + jnp.tanh(h @ w["again"]), None), x, None, length=5)
    return jax.nn.log_softmax(x @ w["last"])


def loss(w, images, labels):
    return -jnp.mean(jnp.take_along_axis(model(w, images), labels[:, None], 1))


@jax.jit
def step(w, images, labels):
    value, gradient = jax.value_and_grad(loss)(w, images, labels)
    return jax.tree.map(lambda a, b: a - 0.1 * b, w, gradient), value


for i in range(steps):
    key = jax.random.PRNGKey(100 + i)
    images, labels = jax.random.normal(key, (96, 32, 32, 3)), jax.random.randint(key, (96,), 0, 10)
    weights, value = step(weights, images, labels)
middle = jnp.sort(jax.random.normal(keys[4], (1 << 19,)))[4321]
spectrum = jnp.abs(jnp.fft.fft(jax.random.normal(keys[5], (2048,)))).sum()
print(f"loss {float(value):.7f} sort {float(middle):.7f} transform {float(spectrum):.3f}")
