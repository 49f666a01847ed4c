"""Poisson's equation u'' = -pi^2 sin(pi x) on (-1, 1), u = 0 at the ends, in jinns, trained with a rule.

    python examples/jinns_problem.py

jinns differentiates each loss and sums; `with_rule` puts the Chebyshev centre of the gradients in place of the sum.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jinns
import optax

from incenter.adapters.jinns import with_rule


class Poisson(jinns.loss.PDEStatio):
    def equation(self, x: Any, u: Any, params: Any) -> Any:
        u_xx = jax.grad(lambda at: jax.grad(lambda x: u(x, params)[0])(at)[0])(x)
        return u_xx + jnp.pi**2 * jnp.sin(jnp.pi * x)


def relative_error(steps: int) -> float:
    key = jax.random.PRNGKey(0)
    layers = ((eqx.nn.Linear, 1, 20), (jnp.tanh,), (eqx.nn.Linear, 20, 20), (jnp.tanh,), (eqx.nn.Linear, 20, 1))
    u, network = jinns.nn.PINN_MLP.create(key=key, eqx_list=layers, eq_type="PDEStatio")
    params = jinns.parameters.Params(nn_params=network, eq_params={})
    loss = jinns.loss.LossPDEStatio(
        u=u,
        dynamic_loss=Poisson(),
        boundary_condition=jinns.loss.Dirichlet(),
        loss_weights=jinns.loss.LossWeightsPDEStatio(dyn_loss=1.0, boundary_loss=1.0),
        params=params,
    )
    data = jinns.data.CubicMeshPDEStatio(key=key, n=100, nb=2, dim=1, min_pts=(-1,), max_pts=(1,), method="grid")
    found = jinns.solve(
        n_iter=steps,
        init_params=params,
        data=data,
        loss=loss,
        print_loss_every=steps,
        verbose=False,
        **with_rule(optax.adam(1e-2), loss),
    )
    x = jnp.linspace(-1, 1, 200)[:, None]
    exact = jnp.sin(jnp.pi * x)
    predicted = jax.vmap(lambda at: u(at, found[0]))(x)
    return float(jnp.linalg.norm(predicted - exact) / jnp.linalg.norm(exact))


if __name__ == "__main__":
    print(f"relative L2 error: {relative_error(steps=1000):.4f}")
