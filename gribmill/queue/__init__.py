"""Durable jobs. Knows no weather."""
