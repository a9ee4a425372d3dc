"""The server under load, beside FastAPI with xarray."""
