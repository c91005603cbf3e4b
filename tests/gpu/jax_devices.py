"""One process and two GPUs under JAX: a sharded step of training, whose gradients are summed by collectives."""
import hashlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()[:2]), ("batch",))
whole, split = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("batch"))
weights = jax.device_put(jax.random.normal(jax.random.PRNGKey(0), (512, 512)) * 0.04, whole)
x = jax.device_put(jax.random.normal(jax.random.PRNGKey(1), (256, 512)), split)


@jax.jit
def step(weights, x):
    return weights - 0.1 * jax.grad(lambda w: jnp.mean(jnp.tanh(jnp.tanh(x @ w) @ w.T) ** 2))(weights)


for _ in range(10):
    weights = step(weights, x)
print("jax_devices", hashlib.sha256(np.asarray(weights).tobytes()).hexdigest()[:16])
