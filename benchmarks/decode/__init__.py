"""Decoding alone: the kernel, ecCodes and the peers."""
