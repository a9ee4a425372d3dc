"""An executor that hangs before it is ready."""

from __future__ import annotations

import signal

if __name__ == "__main__":
    signal.pause()
