"""`gribmill point`: the forecast at places."""
