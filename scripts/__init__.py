"""Programs for maintainers: data files of the package, checks of commits and releases."""
