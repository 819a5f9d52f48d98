"""Engines: what answers requests. Only ``vllm_model`` imports vLLM, only ``openai`` a client."""
