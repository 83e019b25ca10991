"""Tests of ism_core: one file for each of its modules, and one for each promise that spans several."""
