"""GRIB in: from bytes to fields on a named grid."""
