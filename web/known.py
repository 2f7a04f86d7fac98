"""Replies that the whole file carries, so that its first example has a value before Python has started: JSON, [question, reply]."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from namedtensor.webpage.answers import answer

examples = answer({"ask": "examples"})
first = examples["examples"][0]
check = {
    "ask": "check",
    "text": first["text"],
    "inputs": first["inputs"],
    "sizes": {},
    "superscripts": False,
    "plan": True,
}
reply = answer(check)
formula = {
    "text": first["text"],
    "inputs": {input_["name"]: input_["type"] for input_ in reply["inputs"]},
    "sizes": {axis["name"]: axis["size"] for axis in reply["axes"]},
}
questions = [
    {"ask": "examples"}, {"ask": "runtime"}, {"ask": "complete", "before": "\\"}, check,
    {"ask": "steps", **formula, "record": first["record"]},
]  # fmt: skip
print(json.dumps([[question, answer(question)] for question in questions], ensure_ascii=False))
