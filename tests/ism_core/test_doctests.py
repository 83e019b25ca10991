"""The examples in the docstrings of the public names run, and give what they say."""

import doctest

import pytest

import ism_core

EXAMPLES = [
    example
    for name in ism_core.__all__
    for example in doctest.DocTestFinder().find(getattr(ism_core, name), name, globs=vars(ism_core).copy())
    if example.examples
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_what_it_says(example: doctest.DocTest) -> None:
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert report == []


def test_solving_and_choosing_have_examples() -> None:
    assert {"solve", "choose"} <= {example.name for example in EXAMPLES}
