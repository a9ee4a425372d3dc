"""The server under load, beside the usual way to serve forecasts."""
