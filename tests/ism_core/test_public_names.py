"""The names that users import."""

import ism_core


def test_public_names_are_these() -> None:
    assert sorted(ism_core.__all__) == [
        "Alternative",
        "AlternativeISM",
        "Candidate",
        "Certificate",
        "Choice",
        "Engine",
        "Error",
        "Gaussian",
        "Interpretation",
        "InvalidInput",
        "Linear",
        "Linked",
        "Missed",
        "Multiquadratic",
        "Partitions",
        "Polynomial",
        "RelativeGaussian",
        "Result",
        "SemiSupervised",
        "SemiSupervisedISM",
        "Squared",
        "Step",
        "Stop",
        "Supervised",
        "SupervisedISM",
        "Trial",
        "Unsupervised",
        "UnsupervisedISM",
        "Update",
        "aligned",
        "choose",
        "interpret",
        "iter_choose",
        "iter_solve",
        "missed_dependence",
        "partitions",
        "solve",
    ]


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in ism_core.__all__:
        assert getattr(ism_core, name).__doc__
