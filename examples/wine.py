"""Draw 178 wines of three growers on two new axes, with the loadings of the axes; no service is needed.

python examples/wine.py wine.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from ism_core import SupervisedISM

wine = load_wine()
ism = SupervisedISM(kernel="gaussian", q=2)
points = ism.fit(wine.data, wine.target).transform(wine.data)

figure, (picture, bars) = plt.subplots(1, 2, figsize=(10, 4.2), width_ratios=(1, 1.15), layout="constrained")
for grower, color, marker in zip(range(3), ("#0072B2", "#D55E00", "#009E73"), "osD", strict=True):
    rows = wine.target == grower
    style = {"c": color, "marker": marker, "s": 22, "alpha": 0.8, "linewidths": 0}
    picture.scatter(*points[rows].T, **style, label=f"grower {grower + 1}")
picture.set(xlabel="new feature 1", ylabel="new feature 2", title="178 wines, 13 measurements each")
picture.legend(frameon=False)

names = np.array([name.split("/")[0].replace("_", " ") for name in wine.feature_names])
order = np.argsort(ism.feature_importances_)
places = np.arange(len(order))
bars.barh(places + 0.2, ism.components_[0][order], height=0.38, color="#4C4C4C", label="new feature 1")
bars.barh(places - 0.2, ism.components_[1][order], height=0.38, color="#CC79A7", label="new feature 2")
bars.axvline(0, color="black", linewidth=0.8)
bars.set_yticks(places, names[order])
bars.set(xlabel="loading", title="loadings of the new features")
bars.legend(frameon=False, loc="lower right")
for axes in (picture, bars):
    axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "wine.png", dpi=150)
