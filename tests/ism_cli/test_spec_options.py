"""The options of a spec: what is given is in the spec, and nothing else."""

import json

import click
import pytest
from click.testing import CliRunner

from ism_cli.spec_options import is_grid, spec_options


def spec_of(*arguments, grid=True):
    found = []

    @click.command()
    @spec_options(grid=grid)
    def command(spec):
        found.append(spec)

    result = CliRunner().invoke(command, arguments)
    if result.exit_code:
        raise click.UsageError(result.output)
    return found[0]


@pytest.mark.parametrize(("arguments", "spec"), [
    (["--target", "class"], {"paradigm": "supervised", "target": "class"}),
    (["--target", "a", "--target", "b", "--target-kind", "values"],
     {"paradigm": "supervised", "target": ["a", "b"], "target_kind": "values"}),
    (["--clusters", "3"], {"paradigm": "unsupervised", "clusters": 3}),
    (["--clusters", "3", "--scores", "s", "--mu", "2"],
     {"paradigm": "semi_supervised", "clusters": 3, "scores": "s", "mu": 2.0}),
    (["--clusters", "3", "--clustering", "c", "--reference", "r"],
     {"paradigm": "alternative", "clusters": 3, "clustering": "c", "reference": "r"}),
    (["--paradigm", "semi-supervised"], {"paradigm": "semi_supervised"}),
    (["--target", "c", "--features", 'a, "b,c"', "--features", "d"],
     {"paradigm": "supervised", "target": "c", "features": ["a", "b,c", "d"]}),
    (["--target", "c", "--missing", "mean", "--categorical", "onehot", "--scale", "none", "--seed", "0",
      "--starts", "4", "--max-iter", "50", "--folds", "0", "--delta", "0.1", "--label", "first",
      "--priority", "5", "--metadata", "a=b=c"],
     {"paradigm": "supervised", "target": "c", "missing": "mean", "categorical": "onehot", "scale": "none", "seed": 0,
      "starts": 4, "max_iter": 50, "folds": 0, "delta": 0.1, "priority": 5, "label": "first",
      "metadata": {"a": "b=c"}}),
    (["--target", "c", "--precision", "single", "--tolerance", "0", "--approximation-features", "2048",
      "--engine", "dask"],
     {"paradigm": "supervised", "target": "c", "precision": "single", "tolerance": 0.0,
      "approximation": {"features": 2048}, "engine": "dask"}),
    (["--target", "c", "--kernel", "auto", "-q", "auto", "--scale", "whiten", "--starts", "path", "--balance"],
     {"paradigm": "supervised", "target": "c", "kernel": "auto", "q": "auto", "scale": "whiten", "starts": "path",
      "balance": True}),
    (["--target", "c", "--neighbors"], {"paradigm": "supervised", "target": "c", "neighbors": True}),
    (["--target", "c", "--features-per-axis", "5", "--resamples", "20"],
     {"paradigm": "supervised", "target": "c", "features_per_axis": 5, "resamples": 20}),
    (["--target", "c", "--kernel", '{"name": "polynomial", "degree": 2}'],
     {"paradigm": "supervised", "target": "c", "kernel": {"name": "polynomial", "degree": 2}}),
])  # fmt: skip
@pytest.mark.parametrize("grid", [True, False])
def test_a_spec_holds_what_was_given(arguments, spec, grid):
    assert spec_of(*arguments, grid=grid) == spec
    assert not is_grid(spec)


def test_options_given_several_times_make_a_grid():
    spec = spec_of("--target", "c", "--kernel", "gaussian", "--kernel", '{"name": "linear"}', "-q", "2", "-q", "3")
    assert spec == {"paradigm": "supervised", "target": "c", "kernel": ["gaussian", {"name": "linear"}], "q": [2, 3]}
    assert is_grid(spec)
    spec = spec_of("--target", "c", "--approximation-features", "64", "--approximation-features", "128")
    assert spec["approximation"] == [{"features": 64}, {"features": 128}]


@pytest.mark.parametrize(("arguments", "sentence"), [
    ([], "The paradigm is missing"),
    (["--target", "c", "--kernel", "{bad"], "is not JSON"),
    (["--target", "c", "--kernel", '["gaussian"]'], "is not a kernel"),
    (["--target", "c", "-q", "two"], "not a valid integer"),
    (["--target", "c", "--precision", "half"], "'half' is not one of"),
    (["--target", "c", "--tolerance", "little"], "not a valid float"),
    (["--target", "c", "--approximation-features", "many"], "not a valid integer"),
    (["--target", "c", "--engine", "spark"], "'spark' is not one of"),
    (["--paradigm", "magic"], "'magic' is not one of"),
    (["--target", "c", "--metadata", "a"], "KEY=VALUE"),
    (["--spec", "nowhere.json"], "does not exist"),
])  # fmt: skip
def test_what_cannot_be_read_is_a_usage_error(arguments, sentence):
    with pytest.raises(click.UsageError, match=sentence):
        spec_of(*arguments)


def test_a_file_is_the_start_and_options_override_it(tmp_path):
    file = tmp_path / "spec.json"
    file.write_text(json.dumps({"dataset": "d1", "paradigm": "supervised", "target": "c", "q": 5}))
    assert spec_of("--spec", str(file), "-q", "2") == {"dataset": "d1", "paradigm": "supervised", "target": "c", "q": 2}


def test_a_file_may_hold_several_specs_for_a_batch_only(tmp_path):
    file = tmp_path / "specs.json"
    file.write_text(json.dumps([{"target": "c", "q": 2}, {"clusters": 3}]))
    common = {"seed": 7}
    assert spec_of("--spec", str(file), "--seed", "7") == [
        {"paradigm": "supervised", "target": "c", "q": 2} | common,
        {"paradigm": "unsupervised", "clusters": 3} | common,
    ]
    with pytest.raises(click.UsageError, match="describes one job"):
        spec_of("--spec", str(file), grid=False)


@pytest.mark.parametrize("content", ["{", "3", "[]", "[3]", '"gaussian"'])
def test_a_file_without_a_spec_is_a_usage_error(tmp_path, content):
    file = tmp_path / "spec.json"
    file.write_text(content)
    with pytest.raises(click.UsageError, match=r"is not JSON|does not hold a spec"):
        spec_of("--spec", str(file))


def test_a_file_with_a_grid_is_no_single_job(tmp_path):
    file = tmp_path / "spec.json"
    file.write_text(json.dumps({"target": "c", "q": [2, 3]}))
    assert is_grid(spec_of("--spec", str(file)))
    with pytest.raises(click.UsageError, match="describes one job"):
        spec_of("--spec", str(file), grid=False)
