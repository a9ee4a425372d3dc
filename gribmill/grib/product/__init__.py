"""Product definitions of both editions: parameter, level, times, ensemble member."""
