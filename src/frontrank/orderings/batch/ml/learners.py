"""Regressors that the learned ranker can use: from a row of features to log(1 + impact).

    tree     one regression tree, as in tran15
    sgd      linear regression by stochastic gradient descent on standardised features, as in tran15
    gbm      gradient-boosted trees, the mean of two seeds
    forest   extremely randomised trees
    blend    sgd, gbm and forest, separately: the ranker fuses their places

All are seeded and run on one thread: so the same examples give the same model, and a crawl keeps its other cores.
Cost: seconds for 50,000 examples. scikit-learn is imported when something is learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frontrank.errors import need
from frontrank.kernels.jit import Array

LEARNERS = {
    "tree": ("tree",),
    "sgd": ("sgd",),
    "gbm": ("gbm",),
    "forest": ("forest",),
    "blend": ("sgd", "gbm", "forest"),
}


@dataclass(frozen=True)
class Fitted:
    """Regressors; asked about rows, each gives its own predictions. Can be pickled."""

    parts: list[list[Any]]

    def __call__(self, asked: Array) -> list[Array]:
        need("threadpoolctl")
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return [np.mean([model.predict(asked) for model in models], axis=0) for models in self.parts]


def fitted(learner: str, seed: int, rows: Array, gain: Array, weight: Array) -> Fitted:
    """Regressors of gain on rows."""
    need("threadpoolctl")
    from threadpoolctl import threadpool_limits

    parts = [_models(name, seed) for name in LEARNERS[learner]]
    with threadpool_limits(1):
        for models in parts:
            for model in models:
                step = "sgdregressor__" if hasattr(model, "steps") else ""
                model.fit(rows, gain, **{f"{step}sample_weight": weight})
    return Fitted(parts)


def _models(name: str, seed: int) -> list[Any]:
    need("sklearn")
    from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
    from sklearn.linear_model import SGDRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeRegressor

    if name == "tree":
        return [DecisionTreeRegressor(min_samples_leaf=20, random_state=seed)]
    if name == "sgd":
        linear = SGDRegressor(alpha=0.01, max_iter=50, tol=None, average=True, random_state=seed)
        return [make_pipeline(StandardScaler(), linear)]
    if name == "forest":
        return [ExtraTreesRegressor(40, min_samples_leaf=5, max_features=0.4, random_state=seed)]
    shape: dict[str, Any] = {"max_iter": 120, "learning_rate": 0.05, "max_leaf_nodes": 15, "max_features": 0.4}
    return [HistGradientBoostingRegressor(**shape, early_stopping=False, random_state=seed + run) for run in range(2)]
