"""Text to token ids: a `tokenizer.json`, or a byte-level BPE learnt from texts."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxkg.errors import JaxkgError
from jaxkg.storage import write_text

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_FILE = "tokenizer.json"
_CHATML = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
_LLAMA3 = ("<|start_header_id|>", "<|eot_id|>", "<|end_of_text|>")
_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_WORDS = {
    "gpt-2": None,
    "smollm": r"\p{N}",
    "qwen2": _QWEN2,
    "deepseek-r1-qwen": _QWEN2,
    "llama-bpe": _QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|"),
}
"""Where a GGUF file's `tokenizer.ggml.pre` cuts a text into words; None as GPT-2 does."""


@dataclasses.dataclass(frozen=True, eq=False)
class LMTokenizer:
    """A tokenizer with the chat format that its special tokens belong to: ChatML or Llama 3.

    Special tokens that stand in a text are read as the plain characters they are made of: no name
    of a graph can end a turn.
    """

    inner: Tokenizer

    def __post_init__(self) -> None:
        self.inner.encode_special_tokens = True
        self.inner.no_padding()
        self.inner.no_truncation()

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> LMTokenizer:
        """Read a folder's `tokenizer.json`.

        Raises:
            JaxkgError: there is none, or it is damaged.
        """
        path = Path(folder) / _FILE
        if not path.exists():
            raise JaxkgError(f"{folder} has no {_FILE}")
        library = _library()
        try:
            return cls(library.Tokenizer.from_file(str(path)))
        except Exception as error:  # the library raises nothing narrower
            raise JaxkgError(f"{path} is damaged: {error}") from error

    @classmethod
    def train(cls, texts: Iterable[str], *, vocab_size: int) -> LMTokenizer:
        """Learn a byte-level BPE with the special tokens of ChatML.

        Args:
            texts: to learn from; any text can be encoded afterwards.
            vocab_size: tokens at most, at least 259: all bytes and three special tokens.

        Reference: Sennrich, Haddow and Birch, "Neural machine translation of rare words with
        subword units", 2016; bytes as in Radford et al., 2019.
        """
        least = 256 + len(_CHATML)
        if vocab_size < least:
            raise JaxkgError(f"vocab_size must be at least {least}, not {vocab_size}")
        library = _library()
        tokenizer = library.Tokenizer(library.models.BPE())
        tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = library.decoders.ByteLevel()
        trainer = library.trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=list(_CHATML),
            initial_alphabet=sorted(library.pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    @classmethod
    def of_merges(
        cls, tokens: Sequence[str], kinds: Sequence[int], merges: Sequence[str], *, words: str
    ) -> LMTokenizer:
        """A byte-level BPE from its parts, as a GGUF file has them.

        Args:
            tokens: by id.
            kinds: of each: 3 for special tokens, 4 for others that no merge makes, 5 for unused
                ids.
            merges: two tokens each, with a space between.
            words: name of the way in which a text is cut before anything is merged.

        Raises:
            JaxkgError: the way is not known, or the parts do not fit together.
        """
        if words not in _WORDS:
            raise JaxkgError(f"tokenizer.ggml.pre is {words!r}; this reads {', '.join(_WORDS)}")
        library, pattern = _library(), _WORDS[words]
        pre = library.pre_tokenizers
        try:
            tokenizer = library.Tokenizer(
                library.models.BPE(
                    {token: i for i, token in enumerate(tokens) if kinds[i] != 5},
                    [tuple(merge.split(" ", 1)) for merge in merges],
                    ignore_merges=words == "llama-bpe",
                )
            )
            tokenizer.add_tokens(
                [
                    # What looks like the end of a turn is never read as one in a text.
                    library.AddedToken(
                        token, normalized=False, special=kind == 3 or token.startswith("<|")
                    )
                    for token, kind in zip(tokens, kinds, strict=True)
                    if kind in (3, 4)
                ]
            )
        except Exception as error:  # the library raises nothing narrower
            raise JaxkgError(f"its tokenizer is damaged: {error}") from error
        cut = [pre.Split(library.Regex(pattern), "isolated")] if pattern else []
        tokenizer.pre_tokenizer = pre.Sequence(
            [*cut, pre.ByteLevel(add_prefix_space=False, use_regex=words in ("gpt-2", "smollm"))]
        )
        if pattern == _QWEN2:
            tokenizer.normalizer = library.normalizers.NFC()
        tokenizer.decoder = library.decoders.ByteLevel()
        return cls(tokenizer)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write `tokenizer.json`."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        write_text(target / _FILE, self.inner.to_str())

    @property
    def size(self) -> int:
        """Number of tokens, special ones included."""
        return self.inner.get_vocab_size(with_added_tokens=True)

    def encode(self, text: str) -> list[int]:
        """Ids of a text; no special token among them."""
        return self.inner.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids, special tokens left out."""
        return self.inner.decode(list(ids), skip_special_tokens=True)

    @property
    def newline(self) -> int:
        """Id of a line break.

        Raises:
            JaxkgError: a line break is not one token.
        """
        ids = self.encode("\n")
        if len(ids) != 1:
            raise JaxkgError(f"this tokenizer makes {len(ids)} tokens of a line break, not one")
        return ids[0]

    @property
    def end(self) -> tuple[int, ...]:
        """Ids that end the assistant's turn, the one to write first."""
        _, *ends = self._format()
        return tuple(i for name in ends if (i := self.inner.token_to_id(name)) is not None)

    def chat(self, turns: Iterable[tuple[str, str]]) -> list[int]:
        """Ids of a chat up to where the assistant's reply begins.

        Args:
            turns: (role, content) of each.
        """
        chatml = self._format() == _CHATML
        ids: list[int] = [] if chatml else self._special("<|begin_of_text|>")
        for role, content in (*turns, ("assistant", None)):
            if chatml:
                ids += self._special("<|im_start|>") + self.encode(f"{role}\n")
            else:
                ids += self._special("<|start_header_id|>") + self.encode(role)
                ids += self._special("<|end_header_id|>") + self.encode("\n\n")
            if content is not None:
                ids += self.encode(content)
                ids += self._special("<|im_end|>") + self.encode("\n") if chatml else (
                    self._special("<|eot_id|>")
                )  # fmt: skip
        return ids

    @property
    def mark(self) -> str:
        """The special token that opens a turn: it tells the chat format."""
        return self._format()[0]

    def _format(self) -> tuple[str, ...]:
        for names in (_CHATML, _LLAMA3):
            if all(self.inner.token_to_id(name) is not None for name in names[:2]):
                return names
        raise JaxkgError(
            "the tokenizer has the special tokens of neither ChatML (<|im_start|>) nor Llama 3 "
            "(<|start_header_id|>), so how a chat is written is not known"
        )

    def _special(self, name: str) -> list[int]:
        found = self.inner.token_to_id(name)
        if found is None:
            raise JaxkgError(f"the tokenizer has no token {name}")
        return [found]


def _library() -> Any:
    try:
        import tokenizers
    except ImportError as error:
        raise JaxkgError(
            "a local language model needs tokenizers: pip install 'jaxkg[text]'"
        ) from error
    return tokenizers
