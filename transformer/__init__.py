"""Layers and models, written as formulas."""
