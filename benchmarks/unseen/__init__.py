"""Compare automatic ISM with other methods on tables that it was not made on."""
