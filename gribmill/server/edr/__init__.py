"""OGC API – Environmental Data Retrieval: collections, and position, area and cube as CoverageJSON."""

__all__ = ["query_routes", "routes"]
