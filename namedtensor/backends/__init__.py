"""Plans become source text and functions."""
