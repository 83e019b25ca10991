"""J of random features depends on the axes that W is given by, not only on what they span. A frame takes that away.

Random features have random directions, which are what they are for one basis of W and others for another. So W is
always turned within its span to be as near as it can to a fixed W, the frame: then J is a function of the span again,
and smooth.
"""

import numpy as np

from ism_core.arrays import Array


def turn(W: Array, frame: Array) -> Array:
    """The rotation R that brings WR nearest to the frame."""
    left, _, right = np.linalg.svd(W.T @ frame)
    rotation: Array = left @ right
    return rotation


def turning(W: Array, frame: Array, half_gradient: Array) -> Array:
    """What half the gradient of J(WR) has beside the one that is `pulled` for a fixed R, since R changes with W."""
    left, sizes, right = np.linalg.svd(W.T @ frame)
    along = left.T @ (W.T @ half_gradient) @ left
    skew = (along - along.T) / np.maximum(sizes[:, None] + sizes, np.finfo(float).eps)
    added: Array = -frame @ right.T @ skew @ left.T
    return added
