"""Measurements: quality on the shipped model, speed as ratios."""
