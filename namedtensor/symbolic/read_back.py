"""Translate forms back to expressions in the notation.

Every index gets a name. The caller names the outside indices. A summed index is named after the axes at which it
appears, with a prime if another index has that name. A product becomes one chain A ⊙ B ⊙_{k} C / D, which sums each
index at the last factor with this index. If several expressions are possible, for example with renames outside or
inside a bracket, the shortest is chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from grammar.nodes import Axis, Call, Name, Node, Number, Rename, Starred, Superscript

from . import algebra
from .factoring import factor_form
from .factors import enclose
from .forms import DELTA, NUMBER, ONE_, Factor, Form, FormHead, FormIndex, Product, indices_of, opened, split_parts
from .product_order import order_contractions
from .spelling import (
    MARKS,
    WRITERS,
    ProductPart,
    UnwritableError,
    call,
    distinct,
    expression,
    formal_axes,
    has_size,
    indices_in,
    number_node,
    number_parts,
    off_diagonal,
    rename,
    shortest,
    size_node,
)
from .work import current

Names = Mapping[FormIndex, str]
HALF = Fraction(1, 2)
MAX_DEPTH = 2  # For brackets nested less deeply, every possible rename is tried.


class ReadBack:
    """A translator from forms to nodes. `given` maps heads to names that replace them."""

    def __init__(self, given: Mapping[FormHead, str] | None = None):
        self.given = dict(given or {})
        self.kept: dict[tuple[Any, ...], Node] = {}
        self.depth = 0  # The nesting depth of brackets.

    # --------------------------------------------------------------------------------------------------------- sums
    def form(self, form: Form, names: Names) -> Node:
        """Return the shortest expression for a form.

        Some candidates contain the axis names directly, and others rename the axes of the whole expression.
        """
        key = (form, tuple(sorted((index.number, names[index]) for index in indices_of(form))))
        node = self.kept.get(key)
        if node is None:
            self.depth += 1
            node = self.kept[key] = shortest([self.plain(form, names), *self.moved(form, names)])
            self.depth -= 1
        return node

    def moved(self, form: Form, names: Names) -> Iterable[Node]:
        """Yield expressions with stars and renames on the whole form, as in (…)^* and […]_{a→a*}."""
        names_of = {index: names[index] for index in sorted(indices_of(form), key=NUMBER)}
        bare = {index: name.rstrip(MARKS) for index, name in names_of.items() if name[-1:] in MARKS}
        unmarked = {name for index, name in names_of.items() if index not in bare}
        bare = {index: name for index, name in bare.items() if name not in unmarked}
        counts = Counter(bare.values())
        bare = {index: name for index, name in bare.items() if counts[name] == 1}
        if not bare or (len(form) == 1 and len(form[0].factors) == 1 and not form[0].summed):
            return
        marks = {names[index][len(name) :] for index, name in bare.items()}
        alone = [{index: name} for index, name in bare.items()] if len(bare) > 1 and self.depth < MAX_DEPTH else []
        for some in [bare, *alone]:
            inner = self.plain(form, {**names, **some})
            if len(some) == len(names_of) and len(marks) == 1:
                yield Starred(inner, marks.pop())
            else:
                items = sorted((name, names[index]) for index, name in some.items())
                yield Rename(inner, tuple(((Axis(old),), (Axis(new),)) for old, new in items))

    def plain(self, form: Form, names: Names) -> Node:
        if not form:
            return Number(0)
        ordered = sorted(form, key=lambda addend: addend.coefficient < 0)
        plain: Node | None = None
        for product in ordered:
            node, negative = self.signed(product, names)
            if plain is None:
                plain = call("negative", node) if negative else node
            else:
                plain = call("-" if negative else "+", plain, node)
        assert plain is not None
        return plain

    def signed(self, product: Product, names: Names) -> tuple[Node, bool]:
        """Return the absolute value of a product as a node, and whether the product is negative.

        A bracket may absorb the sign.
        """
        if product.coefficient > 0:
            return self.product(product, names), False
        for factor in product.factors:
            if factor.head.kind == "bracket" and factor.exponent == 1 and factor.head not in self.given:
                inner = factor.head.parts[0]
                if len(inner) > 1 and any(addend.coefficient < 0 for addend in inner):
                    flipped = enclose(algebra.scale_form(opened(factor)[0], -1))
                    factors = tuple(flipped if other is factor else other for other in product.factors)
                    return self.product(Product(-product.coefficient, factors, product.summed), names), False
        return self.product(product._replace(coefficient=-product.coefficient), names), True

    # ----------------------------------------------------------------------------------------------------- products
    def product(self, product: Product, names: Names) -> Node:
        product = off_diagonal(product)
        names, grouped = self.with_summed(product, names)
        summed = set(product.summed)
        factors = sorted(product.factors, key=lambda factor: factor.head is DELTA)
        averaged = self.find_averaged_indices(factors, summed)
        roots = [factor for factor in factors if abs(factor.exponent) == HALF and not set(factor.indices) & summed]
        parts = [self.part(factor, names) for factor in factors if factor not in roots]
        for exponent in (HALF, -HALF):
            group = [factor for factor in roots if factor.exponent == exponent]
            if group:
                indices = frozenset(index for factor in group for index in factor.indices)
                under = tuple(factor._replace(exponent=ONE_) for factor in group)
                node = call("sqrt", self.product(Product(ONE_, under), names))
                parts.append(ProductPart(node, indices, exponent < 0))
        for index in grouped:
            if index not in averaged and index in summed:
                inside, parts = split_parts(parts, {index})
                node = self.chain(ONE_, inside, {index}, names)
                parts.insert(0, ProductPart(node, indices_in(inside) - {index}))
                summed.discard(index)
        return self.chain(product.coefficient, parts, summed, names, averaged)

    def find_averaged_indices(self, factors: list[Factor], summed: set[FormIndex]) -> list[FormIndex]:
        """Return the summed indices that turn a product into a mean, because their sizes divide it.

        Remove these divisors from `factors`.
        """
        indices: list[FormIndex] = []
        for index in sorted(summed, key=NUMBER):
            for position, factor in enumerate(factors):
                if factor.head.kind == "size" and factor.head.label == index.size and factor.exponent <= -1:
                    indices.append(index)
                    left = factor.exponent + 1
                    factors[position : position + 1] = [factor._replace(exponent=left)] if left else []
                    break
        return indices

    def with_summed(self, product: Product, names: Names) -> tuple[dict[FormIndex, str], list[FormIndex]]:
        """Return names for all indices of a product, and the summed indices that share a name with another index.

        The caller must sum over these indices before the other index with the same name appears.
        """
        result, grouped = dict(names), []
        taken = {names[index] for index in product.indices()}
        votes: dict[FormIndex, Counter[str]] = {index: Counter() for index in product.summed}
        for factor in product.factors:
            for index, axis in zip(factor.indices, factor.head.axes):
                if index in votes and factor.head is not DELTA:
                    votes[index][axis] += 1
        for index in sorted(product.summed, key=NUMBER):
            choices = [axis for axis, _ in votes[index].most_common()] or [index.name]
            name = next((axis for axis in choices if axis not in taken and has_size(axis, index, product)), None)
            around = [factor.indices for factor in product.factors if index in factor.indices]
            beside = {label for indices in around for label in indices} - {index}
            near = {result.get(label) for label in beside}
            counted = any(factor.head.kind == "size" and factor.head.label == index.size for factor in product.factors)
            free = not counted and choices[0] not in near and has_size(choices[0], index, product)
            partly = len(around) < len(product.factors)
            if name is None and free and partly and not (beside & product.summed & set(grouped)):
                name = choices[0]
                grouped.append(index)
            if name is None:
                name = choices[0].rstrip(MARKS)
                while name in taken or not has_size(name, index, product):
                    name += "'"
            result[index] = name
            if str(index.size).isdigit():
                current().numbered[name] = index.size
            taken.add(name)
        return result, grouped

    def chain(
        self,
        coefficient: Fraction,
        parts: list[ProductPart],
        summed: set[FormIndex],
        names: Names,
        averaged: list[FormIndex] | None = None,
    ) -> Node:
        """Return the node of a product, in which each index is summed at the last factor that has it."""
        if averaged:
            inside, rest = split_parts(parts, set(averaged))
            alone = summed - set(averaged) - indices_in(rest)
            mean = call(
                "mean",
                self.chain(ONE_, inside, alone, names) if inside else Number(1),
                axes=[names[index] for index in averaged],
            )
            parts = [*rest, ProductPart(mean, indices_in(inside) - alone - set(averaged))]
            summed = summed - alone - set(averaged)
        parts = self.alone(parts, summed, names)
        if summed:
            parts = order_contractions(parts, summed, lambda some, over: self.chain(ONE_, some, over, names))
        standing = indices_in(parts) & summed
        above = [part for part in parts if not part.below]
        early, late = split_parts([part for part in parts if part.below], standing)
        order = [*above[:1], *early, *above[1:], *late]
        last = {index: position for position, part in enumerate(order) for index in part.indices if index in standing}
        stuck = {index for index, position in last.items() if order[position].below or position == 0}
        if stuck:
            inside, rest = split_parts(order, stuck)
            inner = self.chain(ONE_, inside, set(), names)
            node = call("∑", inner, axes=[names[index] for index in sorted(stuck, key=NUMBER)])
            merged = ProductPart(node, indices_in(inside) - stuck)
            return self.chain(coefficient, [*rest, merged], summed - stuck, names)
        return self.written(coefficient, order, last, names)

    def alone(self, parts: list[ProductPart], summed: set[FormIndex], names: Names) -> list[ProductPart]:
        """Apply ∑ to each numerator with a summed index that no other factor has."""
        counts = Counter(index for part in parts for index in part.indices if index in summed)
        result: list[ProductPart] = []
        for part in parts:
            indices = sorted((index for index in part.indices if counts.get(index) == 1), key=NUMBER)
            if indices and not part.below:
                node = call("∑", part.node, axes=[names[index] for index in indices])
                part = ProductPart(node, part.indices - set(indices))
            result.append(part)
        return result

    def written(
        self, coefficient: Fraction, order: list[ProductPart], last: dict[FormIndex, int], names: Names
    ) -> Node:
        top, bottom = number_parts(coefficient)
        node: Node | None = None
        for position, part in enumerate(order):
            if part.below:
                node = call("/", Number(1) if node is None else node, part.node)
            elif node is None:
                node = part.node
                if top is not None:
                    node = call("⊙" if isinstance(node, Number) else "juxtaposed", top, node)
                    top = None
            else:
                at = sorted((index for index, where in last.items() if where == position), key=NUMBER)
                node = call("⊙", node, part.node, axes=[names[index] for index in at])
        if top is not None:
            node = top if node is None else self.with_number(top, node)
        if node is None:
            node = Number(1)
        return node if bottom is None else call("/", node, bottom)

    def with_number(self, top: Node, node: Node) -> Node:
        """Multiply a node by a number. If the node is 1 / x, return the quotient of the number and x."""
        if isinstance(node, Call) and node.operator == "/" and node.arguments[0] == Number(1):
            return call("/", top, node.arguments[1])
        return call("⊙", top, node)

    # ------------------------------------------------------------------------------------------------------ factors
    def part(self, factor: Factor, names: Names) -> ProductPart:
        indices, exponent = frozenset(factor.indices), factor.exponent
        if factor.head.kind == "apply" and factor.head.label == "exp" and factor.head not in self.given:
            inner = algebra.scale_form(opened(factor)[0], exponent)
            return ProductPart(self.function(factor.head, "exp", (inner,), (), names), indices)
        node = self.raise_power(self.atom(factor, names), abs(exponent))
        return ProductPart(node, indices, exponent < 0)

    def raise_power(self, node: Node, exponent: Fraction) -> Node:
        if exponent == 1:
            return node
        if exponent == HALF:
            return call("sqrt", node)
        return Superscript(node, (number_node(exponent),))

    def atom(self, factor: Factor, names: Names, one_order: bool = False) -> Node:
        head, indices = factor.head, factor.indices
        expected = [names[index] for index in indices]
        if head is DELTA:
            return expression(f"I_{{{expected[0]}, {expected[1]}}}")
        if len(set(indices)) < len(indices):
            return self.diagonal(factor, names)
        if head in self.given:
            return rename(expression(self.given[head]), dict(zip(distinct(head.axes), expected)))
        if head.kind in ("tensor", "apply") and len(head.symmetries) > 1 and not one_order:
            orders = [factor._replace(indices=tuple(indices[at] for at in order)) for order in head.symmetries]
            return shortest(self.atom(order, names, True) for order in orders)
        if head.kind == "tensor":
            return rename(expression(head.label), dict(zip(head.axes, expected)))
        if head.kind == "size":
            return size_node(head.label)
        if head.kind in ("number", "constant"):
            return number_node(head.label) if head.kind == "number" else Name(head.label)
        if head.kind == "bracket":
            return self.form(opened(factor)[0], names)
        return self.applied(factor, names)

    def diagonal(self, factor: Factor, names: Names) -> Node:
        """Return the node X ⊙_{b} I_{a,b} for a factor with one index at two of its axes.

        A rename cannot give two axes the same name.
        """
        seen: dict[FormIndex, str] = {}
        fresh, pairs = [], []
        texts = {names[index] for index in factor.indices}
        inner = dict(names)
        for index, axis in zip(factor.indices, factor.head.axes):
            if index not in seen:
                seen[index] = names[index]
                fresh.append(index)
                continue
            other = index.fresh()
            name = axis if axis not in texts else names[index] + "'"
            while name in texts:
                name += "'"
            texts.add(name)
            inner[other] = name
            fresh.append(other)
            pairs.append((name, names[index]))
        node = self.atom(factor._replace(indices=tuple(fresh)), inner)
        for name, remains in pairs:
            node = call("⊙", node, expression(f"I_{{{remains}, {name}}}"), axes=[name])
        return node

    def applied(self, factor: Factor, names: Names) -> Node:
        """Return the node that applies an operator.

        Use the given axis names, or use the operator's own axis names followed by a rename.
        """
        head = factor.head
        count = len(factor.indices) - len(head.slots)
        outs, inner = factor.indices[:count], factor.indices[count:]
        natural = distinct(head.axes)
        if outs and not head.bound:  # The operator creates these axes, so their names are free.
            natural = [*(names[index] for index in outs), *natural[count:]]
            if len(set(natural)) < len(natural):
                natural = distinct(natural)
        result, numbered = [], current().numbered
        for slots in (natural[count:], [names[index] for index in inner]):
            if any(numbered.get(axis, index.size) != index.size for axis, index in zip(slots, inner)):
                continue  # Another index has this name.
            key = (head, tuple(natural[:count]), tuple(slots))
            node = self.kept.get(key)
            if node is None:
                node = self.kept[key] = self.opened_node(head, natural[:count], slots)
            node, axes = node if isinstance(node, tuple) else (node, natural[:count])
            current().made.update({axis: index.size for axis, index in zip(axes, outs) if index.size != axis})
            expected = dict(zip(axes, (names[index] for index in outs)))
            expected |= dict(zip(slots, (names[index] for index in inner)))
            if len(set(expected)) == len(outs) + len(inner):
                result.append(rename(node, expected))
        if not result:
            raise UnwritableError(head.label)
        return shortest(result)

    def opened_node(self, head: FormHead, outs: list[str], slots: list[str]) -> Any:
        """Return the node that applies an operator with these axis names, and the names of the axes of the result."""
        _, (at, outputs) = head.options
        names: dict[FormIndex, str] = dict(zip(head.slots, slots))
        formal = formal_axes(head, outs, slots)
        names |= {index: formal[slot] for index, slot in zip(head.bound, at)}
        node = self.function(head, head.label, head.parts, [formal[position] for position in sorted(formal)], names)
        return node, [formal[slot] for slot in outputs]

    def function(
        self, head: FormHead, operator: str, parts: tuple[Form, ...], axes: Iterable[str], names: Names
    ) -> Node:
        if operator in ("merge", "split"):
            parts = tuple(map(factor_form, parts))
        operands = [self.form(part, names) for part in parts]
        if operator in WRITERS:
            return WRITERS[operator](head, list(axes), *operands)
        parameters = tuple(
            number_node(Fraction(repr(value)) if isinstance(value, float) and value != float("inf") else value)
            for name, value in head.options[0]
            if (name, value) not in DEFAULTS
        )
        return call(operator, *operands, axes=axes, parameters=parameters)


DEFAULTS = (("p", 2), ("eps", 1e-5), ("ddof", 0))
