"""`python -m gribmill` is the `gribmill` command."""

from gribmill.cli.main import main

if __name__ == "__main__":
    main()
