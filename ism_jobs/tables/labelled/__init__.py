"""Stata and SPSS files: value labels become text, dates become ISO text, declared missing values are missing."""

from ism_jobs.tables.labelled.reading import LabelledFile

__all__ = ["LabelledFile"]
