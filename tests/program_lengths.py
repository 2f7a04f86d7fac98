"""The length of a program to a reader, by which closed forms are compared with those that people write."""

from grammar import nodes
from namedtensor.symbolic.spelling import length


def program_length(program: nodes.Program) -> int:
    """That of its equations, without their heads, and with the sign between."""
    total = 0
    for index, statement in enumerate(program.statements):
        if isinstance(statement, nodes.Value):
            total += length(statement.body)
        elif isinstance(statement, nodes.Equation):
            head, *sides = statement.sides
            last = index == len(program.statements) - 1
            total += sum(map(length, sides)) + (0 if last else 1 + length(head))
    return total
