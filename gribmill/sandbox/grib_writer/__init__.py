"""Writes GRIB: messages through ecCodes, sections octet by octet. Imports nothing of ecCodes until it is used."""
