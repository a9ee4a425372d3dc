"""The whole path beside decoding and peers: encodings, growth with regions and variables, points, cold start."""
