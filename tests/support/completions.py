"""Finished and failed requests, as journals hold them."""

from dhd.requests import Completion


def ok(key: str, text: str = "17") -> Completion:
    return Completion(key=key, status="ok", text=text, completion_tokens=3, answered_by="m")


def failed(key: str, reason: str = "timeout") -> Completion:
    return Completion(key=key, status="failed", reason=reason, answered_by="m")
