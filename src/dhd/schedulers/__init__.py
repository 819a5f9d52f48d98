"""Schedulers of clusters: what this project submits, finds again, and cancels."""
