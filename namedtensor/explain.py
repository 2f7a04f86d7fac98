"""Every step of a formula: sub-formula, type, value; for the terminal and for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stage:
    """One step: the piece of the formula, and the tensor that it gives."""

    text: str
    value: Any

    @property
    def type(self) -> str:
        return str(self.value.shape)


@dataclass(frozen=True)
class Explanation:
    """The steps of a formula in order of evaluation; prints as a table, and shows as one in a notebook."""

    source: str
    stages: tuple[Stage, ...]

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages)

    def __len__(self) -> int:
        return len(self.stages)

    def __getitem__(self, position: int) -> Stage:
        return self.stages[position]

    @property
    def value(self) -> Any:
        """The value of the whole."""
        return self.stages[-1].value

    def __str__(self) -> str:
        from .display import text_table

        lines = []
        for number, stage in enumerate(self.stages, 1):
            lines.append(f"{number}. {stage.text} : {stage.type}")
            lines += ["     " + line for line in text_table(stage.value).splitlines()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><td>{number}</td><td><code>{html.escape(stage.text)}</code></td>"
            f"<td><code>{html.escape(stage.type)}</code></td><td>{stage.value._repr_html_()}</td></tr>"
            for number, stage in enumerate(self.stages, 1)
        )
        head = "<tr><th></th><th>sub-formula</th><th>type</th><th>value</th></tr>"
        return f'<table class="named-tensor-steps">{head}{rows}</table>'
