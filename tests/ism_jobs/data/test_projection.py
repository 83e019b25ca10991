"""Model: projects tables by name, and the same from .npz and from ONNX."""

import io
import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime
import pyarrow as pa
import pytest

from ism_jobs import schema_versions
from ism_jobs.data import projection as model_module
from ism_jobs.data.encoding import Encoding
from ism_jobs.data.imputation import Missing
from ism_jobs.data.projection import Model
from ism_jobs.errors import InvalidTable, Unavailable

RNG = np.random.default_rng(0)
TABLE = pa.table(
    {
        "a": 1e6 + RNG.normal(size=50),
        "color": RNG.choice(["red", "white", "rosé $x_1$"], size=50),
        "b": 1e-3 * RNG.normal(size=50),
    }
)
FEATURES = ["b", "color", "a"]


def model(missing: Missing = "refuse", q: int = 2) -> Model:
    encoding = Encoding.fit(TABLE, FEATURES, "onehot")
    X = encoding.encode(TABLE)
    W = np.linalg.qr(np.random.default_rng(1).normal(size=(encoding.width, q)))[0]
    fill = {"mean": np.mean, "auto": np.median, "median": np.median}.get(missing)
    fill = None if fill is None else fill(X, axis=0)
    return Model(encoding, missing, fill, X.mean(axis=0), X.std(axis=0), W)


def with_gaps() -> pa.Table:
    gaps = TABLE.slice(0, 3).to_pydict()
    gaps["a"][0] = gaps["a"][1] = gaps["color"][2] = None
    return pa.table(gaps)


def run(onnx: bytes, X: Any) -> Any:
    session = onnxruntime.InferenceSession(onnx, providers=["CPUExecutionProvider"])
    (embedding,) = session.run(["embedding"], {"X": X})
    return embedding


def test_projection_is_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    m = model()
    X = m.encoding.encode(TABLE)
    whole = m.project(X)
    np.testing.assert_allclose(whole, (X - m.mean) / m.scale @ m.W, rtol=1e-12)
    monkeypatch.setattr(model_module, "BLOCK_SIZE", 7 * X.shape[1])
    np.testing.assert_allclose(m.project(X), whole, rtol=1e-12)


def test_columns_are_found_by_name_and_others_are_ignored_with_a_note() -> None:
    m = model()
    expected, notes = m.transform(TABLE)
    assert notes == []
    extra = {f"extra{i}": [1.0] * 50 for i in range(7)}
    embedding, notes = m.transform(pa.table({**extra, **TABLE.select(["a", "b", "color"]).to_pydict()}))
    np.testing.assert_array_equal(embedding, expected)
    assert notes == [
        "Ignored 7 column(s) that are not features of the model:"
        ' "extra0", "extra1", "extra2", "extra3", "extra4", "extra5" and "extra6".'
    ]


@pytest.mark.parametrize("missing", ["refuse", "drop"])
def test_missing_values_are_refused_with_columns_and_counts(missing: Missing) -> None:
    with pytest.raises(InvalidTable, match=r'3 value\(s\) are missing in "color" and "a"') as caught:
        model(missing).transform(with_gaps())
    assert {error.field: error.message for error in caught.value.errors} == {
        "color": "has 1 missing value(s)",
        "a": "has 2 missing value(s)",
    }


@pytest.mark.parametrize(("missing", "values"), [("mean", "means"), ("median", "medians"), ("auto", "medians")])
def test_missing_values_are_filled_by_a_model_that_fills(missing: Missing, values: str) -> None:
    m = model(missing)
    embedding, notes = m.transform(with_gaps())
    X = m.encoding.encode(with_gaps())
    np.testing.assert_allclose(embedding, m.project(np.where(np.isnan(X), m.fill, X)))
    assert notes == [f'Filled 3 missing value(s) in "color" and "a" with the {values} of the training data.']


def test_levels_never_seen_are_noted() -> None:
    embedding, notes = model().transform(pa.table({"a": [1e6], "b": [0.0], "color": ["teal"]}))
    assert np.isfinite(embedding).all()
    assert '"teal"' in notes[0]


def test_a_row_too_large_to_project_is_an_error_that_names_it() -> None:
    with pytest.raises(InvalidTable, match=r'Row 2 cannot be projected.*column "b"'):
        model().transform(pa.table({"a": [1e6, 1e6], "b": [0.0, 1.7e308], "color": ["red", "red"]}))


def test_no_rows_project_to_no_rows() -> None:
    embedding, notes = model().transform(TABLE.slice(0, 0))
    assert embedding.shape == (0, 2)
    assert notes == []


@pytest.mark.parametrize("missing", ["auto", "refuse", "mean", "median", "drop"])
def test_a_model_survives_npz(missing: Missing) -> None:
    m = model(missing, q=3)
    again = Model.from_npz(m.to_npz())
    assert again.encoding == m.encoding
    assert again.missing == missing
    assert again.axes == ("axis1", "axis2", "axis3")
    np.testing.assert_array_equal(again.transform(TABLE)[0], m.transform(TABLE)[0])
    assert again.to_npz() == m.to_npz()


def test_a_model_of_an_earlier_version_projects_as_before() -> None:
    m = model("mean")
    with np.load(io.BytesIO(m.to_npz()), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays["header"].tobytes())
    header["encoding"] = {name: header["encoding"][name] for name in ("columns", "levels")}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    stored = io.BytesIO()
    np.savez(stored, **arrays)
    np.testing.assert_array_equal(Model.from_npz(stored.getvalue()).transform(TABLE)[0], m.transform(TABLE)[0])


def test_npz_is_readable_with_numpy_alone() -> None:
    m = model("mean")
    with np.load(io.BytesIO(m.to_npz()), allow_pickle=False) as file:
        assert tuple(file["features"]) == m.features == ("b", "color=red", "color=rosé $x_1$", "color=white", "a")
        np.testing.assert_array_equal(file["W"], m.W)
        assert json.loads(file["header"].tobytes())["missing"] == "mean"


def test_another_npz_is_no_model() -> None:
    file = io.BytesIO()
    np.savez(file, W=np.eye(2))
    with pytest.raises(ValueError, match="not an ism-model"):
        Model.from_npz(file.getvalue())


def test_a_model_of_a_newer_release_is_refused_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_versions, "MODEL", schema_versions.MODEL + 1)
    newer = model("mean").to_npz()
    monkeypatch.undo()
    with pytest.raises(Unavailable, match="newer release"):
        Model.from_npz(newer)


@pytest.mark.parametrize("missing", ["refuse", "mean"])
def test_onnx_agrees(missing: Missing) -> None:
    m = model(missing, q=3)
    X = m.encoding.encode(TABLE)
    if missing == "mean":
        X[::3, ::2] = np.nan
    np.testing.assert_allclose(run(m.to_onnx(), X), m.project(X), rtol=1e-6, atol=1e-6)
    assert m.to_onnx() == m.to_onnx()


@pytest.mark.parametrize("missing", ["refuse", "mean"])
def test_values_beyond_the_limits_count_as_the_limits_in_every_format(missing: Missing) -> None:
    m = model(missing)
    X = m.encoding.encode(TABLE)
    limits = np.repeat([[-np.inf], [np.inf]], X.shape[1], axis=1)
    limits[:, 0] = np.quantile(X[:, 0], [0.1, 0.9])
    m = replace(m, limits=limits)
    inside = X.copy()
    inside[:, 0] = np.clip(X[:, 0], *limits[:, 0])
    if missing == "mean":
        X[3, 1] = inside[3, 1] = np.nan
    np.testing.assert_allclose(m.project(X), replace(m, limits=None).project(inside), rtol=1e-12)
    np.testing.assert_allclose(Model.from_npz(m.to_npz()).project(X), m.project(X), rtol=1e-12)
    np.testing.assert_allclose(run(m.to_onnx(), X), m.project(X), rtol=1e-6, atol=1e-6)


def test_onnx_projects_no_row_with_a_missing_value_that_it_cannot_fill() -> None:
    m = replace(model(), limits=np.repeat([[-1e9], [1e9]], model().encoding.width, axis=1))
    X = m.encoding.encode(TABLE)
    X[0, 0] = np.nan
    assert np.isnan(run(m.to_onnx(), X)[0]).all()


def test_onnx_names_its_features() -> None:
    m = model()
    session = onnxruntime.InferenceSession(m.to_onnx(), providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    assert tuple(json.loads(metadata["features"])) == m.features
    assert tuple(json.loads(metadata["axes"])) == ("axis1", "axis2")
    assert Encoding.from_dict(json.loads(metadata["encoding"])) == m.encoding
    assert [(value.name, value.type, value.shape) for value in session.get_inputs()] == [
        ("X", "tensor(double)", ["n", 5])
    ]


def test_parts_that_do_not_fit_are_refused() -> None:
    m = model()
    with pytest.raises(ValueError, match="5 encoded features"):
        Model(m.encoding, "refuse", None, m.mean, m.scale, m.W[:-1])
    with pytest.raises(ValueError, match="fill"):
        Model(m.encoding, "mean", None, m.mean, m.scale, m.W)
    with pytest.raises(ValueError, match="limits"):
        replace(m, limits=np.zeros(5))


def test_importing_a_model_imports_no_onnx() -> None:
    code = "import sys, ism_jobs.data.projection; sys.exit('onnx' in sys.modules or 'ism_core' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
