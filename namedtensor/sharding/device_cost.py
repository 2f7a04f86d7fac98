"""The cost of a call on each device of a mesh, as reported by the compiler."""

from __future__ import annotations

from typing import Any, NamedTuple

from grammar.plain_text import encodable

from .collectives import Collectives, collectives_of


class DeviceCost(NamedTuple):
    """The cost on each device: bytes of memory by use and at the peak, floating-point operations, and collectives."""

    arguments: int
    results: int
    temporary: int
    peak: int
    operations: int
    collectives: Collectives

    @encodable
    def __repr__(self) -> str:
        rows = [
            ("given", bytes_shown(self.arguments)),
            ("results", bytes_shown(self.results)),
            ("between", bytes_shown(self.temporary)),
            ("at the highest", bytes_shown(self.peak)),
            ("operations", f"{self.operations:,}"),
            *(
                (kind, f"{count}, {bytes_shown(self.collectives.bytes[kind])}")
                for kind, count in self.collectives.counts.items()
            ),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(["on each device", *(f"  {name:<{width}}  {text}" for name, text in rows)])


def device_cost(compiled: Any, mesh: Any) -> DeviceCost:
    """Return the cost of a compiled function (`jax.stages.Compiled`)."""
    memory = compiled.memory_analysis()
    analysis: dict[str, float] = compiled.cost_analysis() or {}
    inputs, results, between = (
        memory.argument_size_in_bytes,
        memory.output_size_in_bytes,
        memory.temp_size_in_bytes,
    )
    peak = getattr(memory, "peak_memory_in_bytes", 0) or inputs + results + between - memory.alias_size_in_bytes
    return DeviceCost(
        inputs, results, between, peak, int(analysis.get("flops", 0)), collectives_of(compiled.as_text(), mesh)
    )


def bytes_shown(count: float) -> str:
    """Format a number of bytes with its unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
