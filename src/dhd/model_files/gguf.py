"""A GGUF file made into a Hugging Face folder with weights in float32."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from dhd.errors import ModelError


def convert_gguf(gguf: Path, folder: Path, *, split_digits: bool) -> None:
    """Write weights, config, tokenizer and chat template of a GGUF model into ``folder``.

    Parameters
    ----------
    gguf
        The quantised model; its weights are written as float32.
    folder
        An existing folder.
    split_digits
        Whether the model's tokenizer takes numbers apart into digits (``tokenizer.ggml.pre``
        is ``smollm``), which transformers leaves out.

    Raises
    ------
    ModelError
        The packages that the conversion needs are missing.
    """
    # The Hub has no part in this; both are read when the libraries are imported.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TQDM_DISABLE", "1")
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    except ImportError as error:
        raise ModelError(
            f"converting a GGUF model needs torch, transformers, gguf and accelerate: {error}"
        ) from error
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    try:
        tokenizer = AutoTokenizer.from_pretrained(**source)
        model = AutoModelForCausalLM.from_pretrained(
            **source, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
        )
    except ImportError as error:
        raise ModelError(f"converting {gguf.name}: {error}") from error
    if split_digits:
        _split_digits(tokenizer)
    tokenizer.model_max_length = model.config.max_position_embeddings
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    _mend_tokenizer_config(folder)


def _split_digits(tokenizer: Any) -> None:
    """Make the tokenizer split off single digits, then byte-level words.

    Without it an empty line before a digit is two tokens, where the model was trained on one.
    """
    from tokenizers import pre_tokenizers

    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )


def _mend_tokenizer_config(folder: Path) -> None:
    """Name the class that transformers 4 and 5 both know; drop how this process loaded it."""
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for key in ("is_local", "local_files_only"):
        config.pop(key, None)
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
