"""The planted exam: seeded problems with a known answer, and how well rankings of features find it."""
