"""The whole path beside its peers: encodings, growth with regions and variables, reading, cold start."""
