"""Diagrams in Mermaid, which GitHub and notebooks draw from text.

flowchart TD
  n0(["<i>X</i>"])
  n1["LayerNorm"]
  n0 -- "ℝ<sup>seq × chans</sup>" --> n1
"""

from __future__ import annotations

from collections.abc import Iterator

from .diagram_drawing import label_runs
from .flow_graph import NAMING, DrawnFunction, FlowGraph, Port
from .html import html_runs

BRACKETS = {"sign": ("((", "))"), "function": ("[[", "]]"), **dict.fromkeys(NAMING, ("([", "])"))}


def to_mermaid(graph: FlowGraph) -> str:
    """Return a graph as a Mermaid flowchart."""
    return "\n".join(["flowchart TD", *statements(graph, "n", "  ")]) + "\n"


def statements(graph: FlowGraph, prefix: str, indent: str) -> Iterator[str]:
    """Yield the lines of a flowchart: all nodes, followed by all edges. Groups are written as subgraphs."""
    used = {source.node for source, _ in graph.edges}
    for number, node in enumerate(graph.nodes):
        text, name = html_runs(node.runs, {}), f"{prefix}{number}"
        if node.inside is not None:
            yield f'{indent}subgraph {name}["{text}"]'
            yield from statements(node.inside, f"{name}_", indent + "  ")
            yield f"{indent}end"
            continue
        if node.detail:
            text += f"<br/><small>{html_runs(node.detail, {})}</small>"
        if number not in used and graph.outer is None:
            text += f"<br/>{html_runs(label_runs(node), {})}"
        before, after = BRACKETS.get(node.kind, ("[", "]"))
        yield f'{indent}{name}{before}"{text}"{after}'
    for source, target in graph.edges:
        if source.node != target.node:
            type = html_runs(label_runs(innermost(graph, source)), {})
            yield f'{indent}{name_of(prefix, source)} -- "{type}" --> {name_of(prefix, target)}'


def name_of(prefix: str, port: Port) -> str:
    name = f"{prefix}{port.node}"
    return name if port.within is None else name_of(f"{name}_", port.within)


def innermost(graph: FlowGraph, port: Port) -> DrawnFunction:
    """Return the innermost node that a port refers to."""
    node = graph.nodes[port.node]
    return node if node.inside is None or port.within is None else innermost(node.inside, port.within)
