"""Runners of case files: hard inputs with the outcome that the product must give."""
