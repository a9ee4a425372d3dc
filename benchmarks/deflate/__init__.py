"""The kernel's deflate and inflate beside ISA-L and libdeflate, on the arrays of real tiles."""
