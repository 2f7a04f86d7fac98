"""How long things take, as ratios to the same work by hand, measured side by side in one run: python -m benchmarks"""
