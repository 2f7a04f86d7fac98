r"""The protocol of the page: a function `answer(request) -> reply`, whose argument and result are JSON.

A request is `{"ask": QUESTION, …}`. A reply is `{"ok": true, …}` or `{"ok": false, "error": ERROR}`. If a request has a field
`id`, its reply has the same field. Every request gets a reply, because `answer` never raises. JSON cannot represent three
numbers. A reply represents them as the strings "NaN", "Infinity" and "-Infinity", as files and `--json` do.

**Texts and positions.** A *formula* consists of the fields

    text       formula or program, in text or in LaTeX
    syntax     "auto" (default), "text" or "latex"
    inputs     {"Q": "ℝ^{key[4]}", "k": 3}: types of the inputs, by name, or values of the numbers that the plan depends
               on, such as n in `for t = 1, …, n`. A type may omit sizes
    sizes      {"key": 4}: sizes of axes that the types omit

A *span* is `[from, to]` in code points of `text` (in JavaScript: of `[...text]`, which counts 𝕀 as one). A *shape* is a
list of `[axis, size]`. If the reply contains values, the order is their storage order. Otherwise, the order has no
meaning. A *type* is `{"text": "ℝ^{seq[5]}", "axes": SHAPE}`. An *error* is

    {"kind": "shape", "code": 301, "title": "an operation needs an axis that its operand lacks",
     "message": "softmax_{sek} needs axis sek, missing from Q ⊙_{key} K", "line": 2, "column": 10, "span": [21, 24],
     "labels": [{"span": [..], "text": ".."}], "notes": ["Q ⊙_{key} K : ℝ^{seq}"], "hint": "did you mean seq?",
     "repairs": [{"span": [21, 24], "text": "seq"}], "full": "shape error 301: …\n  2 | …\n    |    ^^^ …",
     "input": null, or the name of the input whose type is wrong}

In an error, `span`, `line`, `column` and `hint` may be null. A repair is a replacement that a button inserts. The docs
describe each error code on the page `errors.html#NUMBER`.

**check** — formula and `{"superscripts": true, "plan": true}` → types of all parts. If sizes are missing, `check` chooses small, distinct
sizes and returns them. With `plan`, the reply has a field `plan`, which is the reply to `plan` for the same text, types and
sizes, or null if the text has errors.

    {"ok": true, "syntax": "text", "text": "softmax_{seq} X", in the format of the printer
     "latex": "…\\htmlData{at=0-15}{…}…", for KaTeX with `trust`: each part that has a type is wrapped in
              \htmlData{at=FROM-TO}{…}, each axis name in \htmlClass{nt-axis nt-0}{…}, and each type as a superscript
              (if requested) in \htmlClass{nt-type}{…}; everything else is plain KaTeX
     "plain_latex": without source positions, to be copied; "macros_latex": the same in the paper's own macros
     "axes": [{"name": "seq", "size": 3, "color": 0, "underlined": false, "light": "#0b80a6", "dark": "#75d4fd"}],
              all axes in the order of their colors; the class is nt-COLOR, and nt-more if underlined
     "inputs": [{"name": "X", "type": "ℝ^{seq[3]}", "axes": [["seq", 3]],
                 "from": "given" | "declared" | "guessed" | "argument",
                 "needed": "tensor" | "number", "number": 3 | null,
                 "domain": {"kind": "reals" | "interval" | "elements" | "count" | "integers" | "naturals" | "positive" |
                 "nonnegative", "bounds": [..]}, "span": [..] | null}],
              the values that the text needs, in the order of the text. A "guessed" type is the smallest type that
              makes the formula valid. A "number" must be sent in `inputs` as a number, because the plan depends on
              it. "span" is the first mention. A "count" with bounds [n] contains the integers from 1 to n
     "parts": [{"span": [0, 15], "text": "softmax_{seq} X", "type": "ℝ^{seq[3]}", "axes": [["seq", 3]], "place": []}],
              inner parts come first; "place" lists the definitions that contain the part
     "names": [{"name": "Y", "type": "..", "axes": [..]}]   of all names in the text
     "type": {"text": "ℝ^{seq[3]}", "axes": [["seq", 3]]} for the whole text, or null if it has no type
     "errors": [ERROR], "warnings": [ERROR, with kind "warning"],
     "positional": true if the text may be matrices, indices or array code, which `translate` reads}

For a text that does not parse, "ok" is also true, "latex" is null, "parts" is empty, and "errors" contains the error.

**translate** — `{"text": "A x", "shapes": {"A": "out chans"}}`, with the known axes of inputs, in order → the text in named
tensor notation. The last note states how each translation was checked.

    {"ok": true, "inputs": [{"name": "A", "axes": "out chans"}, …] (null axes: to be given first), "readings": [{"formula":
     "A ⊙_{chans} x", "text": the same after declarations of its inputs, "notes": ["A is read as a matrix"]}], several
     if the text is ambiguous, none if it cannot be read, is already in the notation, or needs axes,
     "error": ERROR | null}

**plan** — formula → JavaScript that computes the value of every step, so that the page needs no Python while numbers change.
The plan uses the sizes that `check` returned. If all steps together have too many elements, only the value has a result.

    {"ok": true, "source": "function formula(Q, K) {\n  const t1 = …;\n  …\n  return [nt.array(t1), …];\n}",
     "inputs": ["Q", "K"],               names of the parameters, in order; each is called with {shape, data}: the
                                         Float64Array of its elements, row-major in the order of the input's "axes"
     "steps": [STEP], "results": 7,      `formula` returns a list of this length; `nt` is the runtime
     "value": 8,                         the number of the step that computes the whole text
     "assertions": [{"span": [..], "left": {"result": 3, "axes": SHAPE}, "right": …}]   values that must be equal}

A STEP is `{"span", "text", "latex" (marked), "type", "axes" (in storage order), "place", "result": the index of its
result (null if all steps have too many elements), "kind": operator ("⊙", "softmax", "∑", "+", "juxtaposed", …), "name",
"rename", "index", …; "operands": [numbers of steps, null for a number in the text], "over": [axes that the operator is
applied along]}`.

**runtime** → `{"ok": true, "source": "export class NotationError …"}`, a module with the functions that a plan calls.

**steps** — formula, `{"record": {"seq": 2}}` (indices from 1; the default is 1) → each step as it would appear on a
blackboard.

    {"ok": true, "steps": [{"step": 3, "symbols": "Q ⊙_{key} K", "shapes": "ℝ^{key[4]} ⊙_{key} ℝ^{seq[5] × key[4]}",
      "latex_symbols": "..", "latex_shapes": "..", "record": {"seq": 2},
      "numbers": [{"step": 0, "at": {"key": 1}}, "·", {"step": 1, "at": {"seq": 2, "key": 1}}, " + ", …, " + … + "],
      "axes": SHAPE}]}

`numbers` is a template of strings and references to elements of the steps. The page inserts their values, with parentheses
around a negative value that is not the first. `numbers` is null if no template fits on a line. `step` is the index of a
step in `plan`.

**code** — formula, `{"library": "loops" | "numpy" | "torch" | "jax" | "javascript" | "einsum"}` → `{"ok": true, "text": "..", "spans":
[[..] | null], "why": null}`. `spans` contains the part of the formula for each line. It is empty if the code has no
such parts. For einsum, the reply is `{"text": null, "why": "softmax is not a sum of products"}` if no einsum call exists.

**derive** — formula, `{"by": "Q"}` → `{"ok": true, "text": "D = …", "latex": "..", "steps": [{"rule": "ndot", "text": "∂u = ∂Q ⊙_{key} K",
"latex": "..", "identity": "∂X ⊙_{ax} Y", "latex_identity": ".." | null}], "as_written": {"text": "∂…/∂Q*", "latex"}, "program":
the closed form with the definitions of all names that it uses, which `check` and `plan` accept with the same inputs, "axes":
as in `check`, new axes last, "why": null}`. If there is no closed form, `text` and `latex` are null, `steps` is empty, `why`
is the reason, and `program` is the derivative as written.

**complete** — `{"before": "A \\od", "names": {"tensors": [..], "functions": [..], "axes": [..]}}` (the names from the last `check`) →
`{"ok": true, "completions": [{"text": "⊙", "length": 3, "meaning": "\\odot"}]}`; the text replaces `length` characters before the caret.

**same** — `{"first": .., "second": .., "inputs": {types}}` → `{"ok": true, "same": false, "difference": "value", "message": "…",
"summary": the message without numbers, "proved": false, "index": {"seq": 1} | null, "actual": 0.2, "expected": 0.6,
"axes": {"theirs": "ours"}}`. Declarations in the first text also apply to the second text.

**exercises** — `{"file": text of a .nt file}` → `{"ok": true, "exercises": [{"name", "kind", "points", "prose", "given", "hints",
"forbidden", "parts", "hole", "inputs": [{"name", "type", "axes"}] with small sizes, "has_solution": bool}]}`. The reply
contains no reference solution.

**release** — `{"file": text of a .nt file, "name": "attention-scale"}` → `{"ok": true, "file":
the text without its solutions}`, with all exercises, or with only the named exercise if the whole text is too long for a page.

**grade** — `{"file": text, "name": "attention-scale", "answer": ".."}` → `{"ok": true, "correct": false, "points": 0, "max_points": 2,
"counts_as_attempt": true, "feedback": "..", "hints": [..], "solution": null | text, "error": ERROR | null, "own": the value of the answer
on the inputs of `drawing`, or null}`. The field "differs" of `own`, such as [0, 3], lists the positions of wrong elements. It
is null if the axes or sizes differ.

**drawing** — `{"file": text, "name": ".."}` → `{"ok": true, "inputs": [{"name": "X", "axes": SHAPE, "data": [1, -2, ..]}], "expected": {"axes",
"data"} | null}`, with small inputs in row-major order and the expected value. `expected` is null if answers of this kind have no
value, or if the value is too large.

**examples** → `{"ok": true, "examples": [{"name": "attention", "title": "..", "source": "paper, §4.1", "text": "..",
"inputs": {types}, "values": {"Q": nested lists} (random for missing names), "labels": {"seq": ["a", "fluffy", "creature"]}, "record": {"seq": 2}}], "site": "https://…" | null}`; `site` is the address where the page is published.

**error** — `{"code": 301}` → `{"ok": true, "code": 301, "title": "..", "examples": [{"note": "..",
"given": "`A ∈ ℝ^{..}`", "text": the printed text, "fixed": the corrected formula}]}`, the section of the docs. Empty
fields of an example are omitted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from grammar.errors import NotationError

from ..core.settings import recursion_headroom
from ..files.text import finite
from .replies import Reply, error_data
from .requests import Request

QUESTIONS = {  # the module and the function that answer each question; a module is loaded on its first use
    "check": ("check", "check"), "plan": ("plans", "plan"), "runtime": ("plans", "runtime_source"),
    "steps": ("blackboard", "steps"), "code": ("code", "code"), "derive": ("derive", "derive"),
    "translate": ("translate", "translate"), "complete": ("complete", "completions"), "same": ("exercises", "same"), "exercises": ("exercises", "exercises"),
    "grade": ("exercises", "grade"), "release": ("exercises", "release"), "drawing": ("exercises", "seen"), "examples": ("examples", "examples"), "error": ("paragraphs", "paragraph"),
}  # fmt: skip
LONGEST = 64_000  # characters of a request


def answer(request: str | Mapping[str, Any]) -> Reply:
    """Return the reply to any request.

    >>> answer({"ask": "check", "text": "∑_{a} X", "inputs": {"X": "ℝ^{a[3] × b[2]}"}})["type"]["text"]
    'ℝ^{b[2]}'
    >>> answer("?")["error"]["message"]
    'a request is an object of JSON'
    """
    try:
        if isinstance(request, str):
            request = json.loads(request) if len(request) <= LONGEST else None  # type: ignore[assignment]
    except (ValueError, RecursionError):
        request = None  # type: ignore[assignment]
    if not isinstance(request, Mapping):
        return {"ok": False, "error": error_data(NotationError(101, "a request is an object of JSON"))}
    tag = {"id": request["id"]} if isinstance(request.get("id"), (str, int)) else {}
    try:
        with recursion_headroom():
            return finite({"ok": True, **tag, **_answer_request(Request(request))})
    except NotationError as problem:
        return {"ok": False, **tag, "error": error_data(problem)}
    except MemoryError:
        return {"ok": False, **tag, "error": error_data(NotationError(404, "this does not fit in memory"))}
    except Exception as problem:  # The page must not show a traceback.
        text = f"this could not be answered: {type(problem).__name__}: {problem}"
        return {"ok": False, **tag, "error": error_data(NotationError(405, text))}


def _answer_request(request: Request) -> Reply:
    ask = request.word("ask", None)
    if ask not in QUESTIONS:
        raise NotationError(101, f"there is no question {ask!r}", hint=f"there are {', '.join(QUESTIONS)}")
    file, name = QUESTIONS[ask]
    return getattr(import_module(f".{file}", __package__), name)(request)
