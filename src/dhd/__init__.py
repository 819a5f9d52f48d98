"""Measure the trajectory value of messages between LLM agents (Diverse Hypothesis Deliberation)."""

__version__ = "0.1.0"
