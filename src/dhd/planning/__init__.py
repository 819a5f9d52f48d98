"""What a study will cost, before anything is submitted.

A plan is a pilot scaled up: the study's own coroutines run in memory on a few problems of each
benchmark, against an engine that writes texts of known lengths, so that no count is derived twice
and retries, sharing and templates are as they will be.
"""
