"""A model as an ONNX graph, from encoded features "X" [n, d] to "embedding" [n, q], both float64."""

import json
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from ism_jobs.data.projection import Model

OPSET = 17  # onnxruntime supports it, with IR version 8, since 1.12
IR_VERSION = 8


def onnx_bytes(model: "Model") -> bytes:
    """Return the serialized graph; its metadata hold the names of features and axes and the encoding, as JSON."""
    constants = {"mean": model.mean, "scale": model.scale, "W": model.W}
    nodes, last = [], "X"
    if model.fill is not None:
        constants["fill"] = model.fill
        nodes = [
            helper.make_node("IsNaN", ["X"], ["missing"]),
            helper.make_node("Where", ["missing", "fill", "X"], ["filled"]),
        ]
        last = "filled"
    if model.limits is not None:
        constants["low"], constants["high"] = model.limits
        nodes += [
            helper.make_node("Max", [last, "low"], ["raised"]),
            helper.make_node("Min", ["raised", "high"], ["clipped"]),
        ]
        last = "clipped"
    nodes += [
        helper.make_node("Sub", [last, "mean"], ["centered"]),
        helper.make_node("Div", ["centered", "scale"], ["standardized"]),
        helper.make_node("MatMul", ["standardized", "W"], ["embedding"]),
    ]
    graph = helper.make_graph(
        nodes,
        "ism",
        [helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["n", model.encoding.width])],
        [helper.make_tensor_value_info("embedding", TensorProto.DOUBLE, ["n", model.q])],
        [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in constants.items()],
    )
    proto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="ism"
    )
    metadata = {"features": model.features, "axes": model.axes, "encoding": model.encoding.to_dict()}
    helper.set_model_props(proto, {key: json.dumps(value) for key, value in metadata.items()})
    onnx.checker.check_model(proto)
    return bytes(proto.SerializeToString(deterministic=True))
