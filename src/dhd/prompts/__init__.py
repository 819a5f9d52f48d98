"""Prompt templates, their rendering, and the schemas of the answers that they ask for."""

from dhd.prompts.render import IndexedMessage, PromptSet

__all__ = ["IndexedMessage", "PromptSet"]
