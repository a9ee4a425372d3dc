"""The `gribmill` command, which is also `python -m gribmill`."""

import sys


def main() -> None:
    """Run the command line. Ctrl-C during the imports also exits without a traceback."""
    try:
        from gribmill.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
