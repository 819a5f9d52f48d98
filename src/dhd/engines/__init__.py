"""Engines: what answers requests. Only ``vllm`` imports vLLM, only ``openai`` an HTTP client."""
