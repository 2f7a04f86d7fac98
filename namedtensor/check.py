"""The tree and what is known of the inputs, to the typed tree: every name, axis and size found, or an error that teaches.

    Checker(scope, inputs, sizes).value("O")     the Term of a name
    Checker(scope, inputs, sizes).whole()        the Term of the program's last value

One rule for each kind of node stands in `Checker.RULES`; calls of the user's own functions are in `calls.py`,
definitions by elements in `elements.py`, sizes in `solve.py`.
"""

from __future__ import annotations

import math
from typing import Any, Iterable, Mapping, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Node, Number

from . import calls, cases, elements, sums
from .advice import ELSEWHERE, did_you_mean, near
from .axes import AxisProblem, bind, broadcast, lift, show
from .frames import Frame, fresh, plain
from .names import Key, Spelled, component, spelled, walk
from .operators import REGISTRY
from .operators.record import Operator
from .scope import Claim, Definition, Function, Scope, SizeFact
from .sizes import Unknown, agree, is_known, known
from .solve import Solver
from .terms import Term, Terms, resolve

CONSTANTS = {"π": math.pi, "e": math.e, "ε": 1e-5, "∞": math.inf}


class Input(NamedTuple):
    """What is known of a tensor that is given: its shape, and its value where it is a whole Python number."""

    shape: Mapping[str, Any]
    number: int | None = None
    boolean: bool = False


class Warned(NamedTuple):
    """A place that is right by the rules and may be a slip."""

    message: str
    span: tuple[int, int]
    hint: str


class Poisoned(Exception):
    """A part has an error that is reported already; what contains it has no type."""


class Checker:
    """Types a program for given inputs.

    With `demand`, a declared name that is not given becomes an input with the shape of its declaration (that is how a
    program's parameters are found); with `collect`, errors are gathered in `errors` and checking goes on.
    """

    def __init__(
        self,
        scope: Scope,
        inputs: Mapping[Key, Input] | None = None,
        sizes: Mapping[str, int] | None = None,
        demand: bool = False,
        collect: bool = False,
        strict: bool = False,
        python: Mapping[str, Any] | None = None,
        limits: Any = None,
    ):
        self.scope = scope
        self.inputs = dict(inputs or {})
        self.given_sizes = dict(sizes or {})
        self.demand, self.collect, self.strict = demand, collect, strict
        self.python = python or {}
        self.limits = limits
        self.terms = Terms()
        self.errors: list[NotationError] = []
        self.warnings: list[Warned] = []
        self.trace: list[tuple[Node, Term, Frame]] = []
        self.types: dict[str, Any] = {}
        self.demanded: dict[Key, Term] = {}
        self.used: set[Key] = set()
        self.pending_claims: list[tuple[Claim, Frame]] = []
        self.claim_terms: list[tuple[Term, Any, tuple[int, int]]] = []
        self.calls = 0
        self.guards: list[Term] = []
        self.top = Frame()
        self.solver = Solver(self)
        self.prepare_inputs()

    # ------------------------------------------------------------------------------------------------------- errors
    def error(self, number: int, message: str, place: Any, notes: Iterable[str] = (), hint: str | None = None, labels=()):
        span = place if isinstance(place, tuple) else place.span if place is not None else None
        if isinstance(place, (Term,)):
            span = place.node.span
        return NotationError(number, message, self.scope.source, span, tuple(notes), hint, labels)

    def text(self, node: Any) -> str:
        span = getattr(node, "span", node)
        text = " ".join(self.scope.source[span[0] : span[1]].split())
        return text if len(text) <= 80 else f"{text[:60]} … {text[-16:]}"

    def described(self, node: Node, shape: Mapping[str, Any]) -> str:
        return f"{self.text(node)} : {shown(shape)}"

    # ------------------------------------------------------------------------------------------------------- inputs
    def prepare_inputs(self) -> None:
        for name, size in self.given_sizes.items():
            if isinstance(name, str) and not isinstance(size, bool) and isinstance(size, (int, Unknown)):
                self.top.scalars[_plain_key(name)] = size
                continue
            raise NotationError(308, f"the size of {name} is a whole number, not {size!r}")
        for key, given in self.inputs.items():
            shape = self.lifted_input(key, given)
            if given.number is not None:
                self.top.variables[key] = self.terms.number(given.number)
            else:
                self.top.variables[key] = self.terms.make(
                    "input", options=(str(key),), shape=dict(shape), boolean=given.boolean
                )
                self.top.note_sizes(str(key), {a: s for a, s in shape.items() if "@" not in a})
        for name, size in self.given_sizes.items():
            found = self.top.sizes.get(name)
            if found is None:
                self.top.sizes[name] = size

    def lifted_input(self, key: Key, given: Input) -> Mapping[str, Any]:
        """The shape of an input, its axes beyond those of its declaration lifted; the declaration's sizes noted."""
        declared, frame = self.declaration(key)
        if declared is None or not isinstance(given.shape, Mapping):
            return given.shape
        axes = self.set_axes(declared, frame)
        for axis, size, node in axes:
            if axis not in given.shape:
                raise self.error(
                    317,
                    f"{key} lacks the axis {axis} of its declaration",
                    node,
                    notes=(f"{key} was given with {shown(given.shape)}",),
                    hint=f"give {key} with the axes {', '.join(a for a, _, _ in axes)}"
                    if axes
                    else None,
                )
            if size is not None:
                where = f"{key} : {shown(given.shape)}"
                self.solver.declared.append((SizeFact(size, given.shape[axis], node.span, where), frame))
            wanted = self.given_sizes.get(axis)
            if wanted is not None and not agree(wanted, given.shape[axis]):
                raise self.error(
                    308,
                    f"{axis} has {known(given.shape[axis])} in {key}, and sizes= says {known(wanted)}",
                    node,
                    notes=(f"{key} was given with {shown(given.shape)}",),
                    hint="leave the size out, or give a tensor of that size",
                )
        names = {axis for axis, _, _ in axes}
        return {axis if axis in names else fresh(axis, 0): size for axis, size in given.shape.items()}

    def declaration(self, key: Key) -> tuple[nodes.Set | None, Frame]:
        """The set that a top-level name is declared to be in, and a frame that knows its indices."""
        for _, name, sets, over in self.scope.declarations:
            indices = match_key(name, key, self.scope.indices)
            if indices is not None and over is not None and not str(indices.get(over.variable.text)).isdecimal():
                continue
            if indices is not None:
                return sets[0], Frame(parent=self.top, indices=indices)
        return None, self.top

    def set_axes(self, of: nodes.Set, frame: Frame) -> list[tuple[str, Node | None, Any]]:
        found: list[tuple[str, Node | None, Any]] = []
        seen: set[str] = set()
        for axis, size in of.axes:
            for real in frame.real_axes(axis.name):
                if real in seen:
                    raise self.error(
                        303, f"the axis {real} occurs twice in one shape", axis, hint="each axis needs its own name"
                    )
                seen.add(real)
                found.append((real, size, axis))
        return found

    # --------------------------------------------------------------------------------------------------- entry points
    def whole(self) -> Term:
        """The Term of the program's last value."""
        last = self.scope.last
        if last is None:
            functions = ", ".join(function.title for function in self.scope.all_functions())
            raise self.error(
                105,
                "there is no value here" + (f", only functions: {functions}" if functions else ""),
                self.scope.program,
                hint="write a last line with what to compute, or call a function of the program from Python",
            )
        term = self.definition(last, self.top) if isinstance(last, Definition) else self.term(last, self.top)
        self.solver.check()
        self.check_claims()
        return self.unlifted(term, last.statement.sides[0] if isinstance(last, Definition) else last)

    def value(self, key: Key) -> Term:
        """The Term of a name that the program defines or is given."""
        found = self.find(key, self.top, None)
        if found is None:
            raise self.unknown(key, (0, len(self.scope.source)), self.top)
        self.solver.check()
        self.check_claims()
        return self.unlifted(found, self.scope.program)

    def unlifted(self, term: Term, node: Any) -> Term:
        """Lifted axes get their own names again."""
        lifted = [axis for axis in term.shape if "@" in axis]
        if not lifted:
            return term
        for axis in lifted:
            if plain(axis) in term.shape:
                raise self.error(
                    306,
                    f"the axis {plain(axis)} of an input meets another {plain(axis)} of the result",
                    node,
                    notes=(f"the result has {shown({plain(a): s for a, s in term.shape.items()})}",),
                    hint=f"rename the further axis {plain(axis)} of the input",
                )
        return self.renamed(term, {axis: plain(axis) for axis in lifted}, node)

    def check_claims(self) -> None:
        for claim in (*self.scope.claims, *self.given_definitions()):
            try:
                self.claim(claim, self.top)
            except NotationError as problem:
                if problem.number not in (201, 206) and not self.missing_inputs(problem):
                    raise
        while self.pending_claims:
            claim, frame = self.pending_claims.pop()
            self.claim(claim, frame)
        for key, group in self.domains():
            self.domain_claim(key, group)

    def given_definitions(self) -> list[Claim]:
        """A name that is given a value and has an equation too: the equation is a claim."""
        return [
            Claim(group[0].head, group[0].body, group[0].statement.span)
            for key, group in self.scope.definitions.items()
            if key in self.inputs and group[0].head is not None and not group[0].elements
        ]

    def refused_head(self, name: str) -> NotationError | None:
        """The error of f(x + 1) = …, which does not define f, where f is asked for."""
        for claim in self.scope.claims:
            if not isinstance(claim.left, Call) or claim.left.operator != "juxtaposed":
                continue
            head, argument = claim.left.arguments
            if isinstance(head, Name) and head.text == name and self.scope.source[argument.span[0]] == "(":
                return self.error(
                    114,
                    f"{self.text(claim.left)} cannot be defined: the arguments of a head are plain names",
                    argument,
                    hint=f"write {name}(t) = …",
                )
        return None

    def missing_inputs(self, problem: NotationError) -> bool:
        return problem.number in (204, 309)

    def domains(self):
        for key in self.inputs:
            declared, frame = self.declaration(key)
            if declared is not None and declared.domain != "reals" and key in self.used:
                yield self.top.variables[key], (declared, frame)

    def domain_claim(self, term: Term, group) -> None:
        declared, frame = group
        values: list[Any] = []
        for node in declared.elements:
            value = self.solver.value(node, frame)
            if not isinstance(value, (int, float)):
                return
            values.append(value)
        self.claim_terms.append((term, (declared.domain, tuple(values)), declared.span))

    def claim(self, claim: Claim, frame: Frame) -> None:
        """Check a claim's shape now, and note its values to be compared when there are some."""
        left = self.term(claim.left, frame)
        if isinstance(claim.right, nodes.Set):
            self.check_member(left, claim.right, frame, claim.left)
            return
        right = self.term(claim.right, frame)
        shape = self.broadcast((left, right), claim.left, claim.span, "=", (claim.left, claim.right))
        if set(left.shape) != set(right.shape) and right.shape and left.shape:
            raise self.error(
                307,
                f"the two sides of = have different axes: {shown(left.shape)} and {shown(right.shape)}",
                claim.span,
                notes=(self.described(claim.left, left.shape), self.described(claim.right, right.shape)),
            )
        del shape
        self.claim_terms.append((left, right, claim.span))

    def check_member(self, term: Term, of: nodes.Set, frame: Frame, node: Node) -> None:
        axes = self.set_axes(of, frame)
        names = {axis for axis, _, _ in axes}
        have = {axis for axis in term.shape if "@" not in axis}
        if names != have:
            raise self.axes_differ(term, node, names, of, f"{self.text(node)} ∈ {self.text(of)}")
        for axis, size, where in axes:
            value = None if size is None else self.solver.value(size, frame)
            if value is not None and not agree(value, term.shape[axis]):
                raise self.error(
                    308,
                    f"{axis} has {known(term.shape[axis])} here, and {self.text(of)} says {known(value)}",
                    where,
                    notes=(self.described(node, term.shape),),
                )
            if size is not None and value is None:
                self.learn(size, term.shape[axis], frame)

    def learn(self, size: Node, actual: Any, frame: Frame) -> None:
        name = spelled(size)
        if name is not None:
            frame.scalars.setdefault(name.key(frame.index), actual)

    def axes_differ(self, term: Term, node: Node, names: set[str], of: nodes.Set, text: str):
        have = {axis for axis in term.shape if "@" not in axis}
        missing, further = names - have, have - names
        parts = []
        if further:
            parts.append(f"has {_axes(further)} besides")
        if missing:
            parts.append(f"lacks {_axes(missing)}")
        return self.error(
            307,
            f"{self.text(node)} {' and '.join(parts)}: it cannot be in {self.text(of)}",
            node,
            notes=(self.described(node, {a: s for a, s in term.shape.items() if "@" not in a}),),
            labels=((of.span, "stated here"),),
            hint=_rename_hint(missing, further) or "a value has exactly the axes of its set: change one of the two",
        )

    # -------------------------------------------------------------------------------------------------------- names
    def find(self, key: Key, frame: Frame, node: Any) -> Term | None:
        """The Term that a key stands for in a frame, or None."""
        current: Frame | None = frame
        while current is not None:
            if key in current.variables:
                if current is self.top:
                    self.used.add(key)
                return current.variables[key]
            found = self.fact(key, current, frame)
            if found is not None:
                return found
            if not key.subscript and not key.superscript and key.base in current.indices:
                value = current.indices[key.base]
                if isinstance(value, str) and value.isdecimal():
                    value = int(value)
                if isinstance(value, int):
                    return self.terms.number(value, node)
            if key in current.scalars:
                return self.scalar_term(current.scalars[key], key, node)
            current = current.parent
        return self.demanded_input(key, node)

    def fact(self, key: Key, holder: Frame, frame: Frame) -> Term | None:
        """The value of a definition that the holder's function, or the program, has for this key."""
        facts: Mapping[Key, list[Definition]]
        if holder.function is not None:
            facts, families = holder.function.facts, holder.function.families
        elif holder is self.top:
            facts, families = self.scope.definitions, self.scope.families
        else:
            return None
        if key in facts:
            return self.define(key, facts[key], holder, frame)
        for family in families:
            indices = match_key(family.name, key, self.scope.indices)
            if indices is not None and family.range is not None:
                return self.family(key, family, indices, holder, frame)
        return None

    def define(self, key: Key, group: list[Definition], holder: Frame, frame: Frame) -> Term:
        """Evaluate definitions in the frame that holds them; one that speaks of sizes, in the frame that asks."""
        place, memo = holder, holder.memo
        if holder is self.top and frame is not self.top and self.speaks_of_sizes(key):
            asking = nearest_call(frame)
            place = Frame(parent=self.top, sizes_parent=asking, depth=asking.depth, active=frame.active)
            memo = asking.memo
        if key in memo:
            found = memo[key]
            if isinstance(found, NotationError):
                raise Poisoned if self.collect else found
            return found
        marker = (id(holder), key)
        if marker in frame.active or marker in place.active:
            raise self.error(
                203,
                f"{key} needs itself",
                group[0].statement.sides[0],
                notes=(f"{key} is defined by {self.text(group[0].body)}",),
                hint="give the first value by an equation of its own, as X^0, and the others by a range"
                if key.superscript
                else f"define it without {key}, or give it a value",
            )
        place = Frame(
            parent=place,
            sizes_parent=place,
            depth=place.depth,
            active=frame.active | place.active | {marker},
        )
        try:
            with cases.unguarded(self):
                term = self.definition_group(group, place)
        except NotationError as problem:
            memo[key] = problem
            raise
        memo[key] = term
        self.types.setdefault(str(key), resolve(term.shape))
        return term

    def speaks_of_sizes(self, key: Key) -> bool:
        """Whether the value of a top-level name depends on sizes that a call fixes."""
        memo = self.top.memo.setdefault("sizes of", {})
        if key in memo:
            return memo[key]
        memo[key] = False
        for definition in self.scope.definitions.get(key, []):
            if definition.elements:
                memo[key] = True
                break
            for node in walk(definition.body):
                if isinstance(node, nodes.Size) or (
                    isinstance(node, Call) and node.operator in ("unroll", "pool", "iota", "onehot", "maxk", "argmaxk")
                ):
                    memo[key] = True
                name = spelled(node) if not isinstance(node, nodes.Axis) else None
                if name is not None and name.key() != key and name.key() in self.scope.definitions:
                    memo[key] = memo[key] or self.speaks_of_sizes(name.key())
        return memo[key]

    def definition(self, definition: Definition, frame: Frame) -> Term:
        if definition.range is not None and not definition.elements:
            last = self.solver.value(definition.range.last, frame)
            if not isinstance(last, int):
                raise self.unknown_bound(definition.range, frame)
            name = definition.name
            texts = tuple(component(node, {definition.range.variable.text: last}.get) for node in name.superscript)
            key = Key(name.base, tuple(component(node) for node in name.subscript), texts)
            found = self.find(key, frame, definition.head)
        else:
            found = self.find(definition.key, frame, definition.head)
        if found is None:
            raise self.empty_range(definition)
        return found

    def empty_range(self, definition: Definition):
        over = definition.range or definition.head
        return self.error(
            405, f"the range of {self.text(definition.head)} is empty, so it has no last value", over,
            hint="let the range end after it begins",
        )  # fmt: skip

    def definition_group(self, group: list[Definition], frame: Frame) -> Term:
        definition = group[0]
        if definition.elements:
            return elements.define(self, group, frame)
        term = self.term(definition.body, frame)
        self.check_statement(definition, term, frame)
        return term

    def check_statement(self, definition: Definition, term: Term, frame: Frame) -> None:
        for of in definition.statement.sets:
            self.check_member(term, of, frame, definition.body)
        declared, declaring = self.local_declaration(definition.key, frame)
        if declared is not None:
            self.check_member(term, declared, declaring, definition.body)
        for other in definition.claims:
            self.pending_claims.append((Claim(definition.body, other, definition.statement.span), frame))

    def local_declaration(self, key: Key, frame: Frame) -> tuple[nodes.Set | None, Frame]:
        current: Frame | None = frame
        while current is not None:
            if current.function is not None and key in current.function.declarations:
                return current.function.declarations[key], frame
            current = current.parent
        declared, declaring = self.declaration(key)
        if declared is None:
            return None, frame
        return declared, Frame(parent=frame, sizes_parent=frame, indices=declaring.indices)

    def family(self, key: Key, family: Definition, indices: dict, holder: Frame, frame: Frame) -> Term | None:
        """One member of X^l = … for l = 1, …, n; the members before it are made first, so that depth stays small."""
        over = family.range
        assert over is not None
        variable = over.variable.text
        wanted = indices.get(variable)
        wanted = int(wanted) if isinstance(wanted, str) and wanted.isdecimal() else wanted
        if not isinstance(wanted, int):
            return None
        first, last = self.solver.value(over.first, holder), self.solver.value(over.last, holder)
        if not isinstance(first, int) or not isinstance(last, int):
            raise self.unknown_bound(over, frame)
        if not first <= wanted <= last:
            return None
        steps = getattr(self.limits, "steps", 10**6)
        if wanted - first + 1 > steps:
            raise self.error(
                404, f"a recurrence of {wanted - first + 1} steps passes the limit of {steps}", over, hint="raise limits.steps"
            )
        found = None
        begin = wanted
        while begin > first and self.member_key(family, {**indices, variable: begin}) not in holder.memo:
            begin -= 1
        for step in range(begin, wanted + 1):
            member = self.member_key(family, {**indices, variable: step})
            if member in holder.memo and not isinstance(holder.memo[member], NotationError):
                found = holder.memo[member]
                continue
            if member in holder.variables:
                continue
            marker = (id(holder), member)
            if marker in frame.active:
                if step < wanted:
                    continue
                raise self.error(203, f"{member} needs itself", family.head, hint="let each member need only earlier ones")
            place = Frame(
                parent=holder,
                sizes_parent=holder,
                depth=holder.depth,
                indices={**indices, variable: step},
                active=frame.active | {marker},
            )
            found = self.term(family.body, place)
            self.check_statement(family, found, place)
            holder.memo[member] = found
            self.types.setdefault(str(member), resolve(found.shape))
        return found

    def member_key(self, family: Definition, indices: dict) -> Key:
        def value(name: str) -> Any:
            return indices.get(name)

        return family.name.key(value)

    def unknown_bound(self, over: nodes.Range, frame: Frame):
        return self.error(
            309,
            f"{self.text(over.last)} has no value, and the range {self.text(over)} needs one",
            over.last,
            hint=f"give it by name: sizes={{{self.text(over.last)!r}: 3}}",
        )

    def scalar_term(self, value: Any, key: Any, node: Any) -> Term:
        value = known(value)
        if isinstance(value, Unknown):
            return self.terms.make("unknown", options=(str(key),), node=node)
        return self.terms.number(value, node)

    def demanded_input(self, key: Key, node: Any) -> Term | None:
        declared, frame = self.declaration(key)
        if declared is None:
            return None
        if not self.demand:
            solved = self.solver.scalar(key, self.top)
            if solved is not None:
                return self.scalar_term(solved, key, node)
            raise self.error(
                206,
                f"{key} is declared, but no value was given for it",
                node,
                labels=((declared.span, "declared here"),),
                hint=f"give it by name: values={{{str(key)!r}: …}}",
            )
        return self.demand_declared(key, declared, frame)

    def demand_declared(self, key: Key, declared: nodes.Set, frame: Frame) -> Term:
        if key not in self.demanded:
            shape = {}
            for axis, size, _ in self.set_axes(declared, frame):
                value = self.solver.value(size, frame) if size is not None else self.solver.size(axis, frame)
                shape[axis] = value if value is not None else self.unknown_size(axis)
            self.demanded[key] = self.terms.make("input", options=(str(key),), shape=shape)
        return self.demanded[key]

    def unknown_size(self, axis: str) -> Unknown:
        if axis not in self.top.sizes:
            self.top.sizes[axis] = Unknown(f"|{axis}|")
        return self.top.sizes[axis]

    def number_named(self, key: Key, frame: Frame) -> Any:
        """The number that a name stands for by its definition, for size expressions."""
        try:
            term = self.find(key, frame, None)
        except NotationError:
            return None
        return term.number if term is not None else None

    def resolve_name(self, node: Node, frame: Frame) -> Term:
        """A name, with or without scripts; or a power of one."""
        name = spelled(node)
        assert name is not None
        key = name.key(frame.index)
        found = self.find(key, frame, node)
        if found is None and (name.superscript or name.subscript):
            found = self.by_value(name, frame, node)
        if found is not None:
            return found
        if isinstance(node, nodes.Subscript):
            found = elements.created(self, node, frame)
            if found is not None:
                return found
        if isinstance(node, nodes.Superscript):
            return self.power(node, frame)
        solved = self.solver.scalar(key, frame, node)
        if solved is not None:
            return self.scalar_term(solved, key, node)
        if not key.subscript and not key.superscript and key.base in CONSTANTS:
            return self.terms.number(CONSTANTS[key.base], node)
        raise self.unknown(key, node, frame)

    def by_value(self, name: Spelled, frame: Frame, node: Node) -> Term | None:
        """X^L as X^2, where L is 2 and X a family."""

        def value(word: str) -> Any:
            found = frame.index(word)
            if found is None and word.rstrip("'") == word:
                found = self.number_named(Key(word), frame) if self.defined_number(word, frame) else None
                if found is None:
                    found = self.solver.scalar(Key(word), frame)
            return known(found) if is_known(found) else None

        families = [*self.scope.families]
        current: Frame | None = frame
        while current is not None:
            if current.function is not None:
                families += current.function.families
            current = current.parent
        declared = [name for _, name, _, over in self.scope.declarations if over is not None]
        if not any(family.name.base == name.base for family in families) and not any(
            each.base == name.base for each in declared
        ):
            return None
        key = name.key(value)
        return self.find(key, frame, node)

    def defined_number(self, word: str, frame: Frame) -> bool:
        return Key(word) in self.scope.definitions or Key(word) in self.top.variables

    def unknown(self, key: Key, place: Any, frame: Frame):
        text = str(key)
        known_names = self.visible(frame)
        base = place
        while isinstance(base, (nodes.Subscript, nodes.Superscript)):
            base = base.base
        if base is not place and near(key.base, self.function_names(), 1, 0.75):
            text, place = key.base, base
        refused = self.refused_head(text)
        if refused is not None:
            return refused
        axes = {axis for term in self.top.variables.values() for axis in term.shape}
        if text in axes:
            return self.error(
                201, f"{text} is an axis, and no tensor", place, hint=f"an axis stands in a subscript, as in softmax_{{{text}}} X; its size is |{text}|"
            )
        notes = self.known_here(key, known_names)
        hint = self.unspelled(key) or did_you_mean(near(text, self.spellable(known_names))) or ELSEWHERE.get(text)
        return self.error(
            201, f"{text} is not known", self.unbracketed(place), notes=notes, hint=hint or f"define {text} by an equation, or give it a value"
        )

    def spellable(self, names: list[str]) -> list[str]:
        """Without built-in names of one letter or sign, which nobody means by a slip."""
        return [name for name in names if name not in REGISTRY or len(name) > 2]

    def unbracketed(self, place: Any) -> tuple[int, int]:
        """Where a name stands, without the brackets around it."""
        start, end = place if isinstance(place, tuple) else place.span
        source = self.scope.source
        while end - start > 2 and source[start] + source[end - 1] in ("()", "{}"):
            start, end = start + 1, end - 1
            inside = source[start:end]
            start, end = start + len(inside) - len(inside.lstrip()), end - len(inside) + len(inside.rstrip())
        return start, end

    def known_here(self, key: Key, names: list[str]) -> list[str]:
        tensor = self.top.variables.get(Key(key.base))
        if tensor is not None and (key.subscript or key.superscript):
            return [f"{key.base} : {shown(tensor.shape)}"]
        own = sorted(set(names) - set(REGISTRY) - set(self.python))
        return [f"known here: {', '.join(own[:8])}" + (", …" if len(own) > 8 else "")] if own else []

    def unspelled(self, key: Key) -> str | None:
        """What X_1 or X_seq should be where X is a tensor that has no such label."""
        tensor = self.top.variables.get(Key(key.base))
        if tensor is None or not key.subscript or key.superscript or not tensor.shape:
            return None
        axes = [plain(axis) for axis in tensor.shape]
        named = key.subscript[0] if key.subscript[0] in axes else axes[0]
        index = "i" if key.subscript[0] in axes else key.subscript[0]
        return f"an index names its axis: {key.base}_{{{named}({index})}}"

    def function_names(self) -> list[str]:
        own = [function.operator for function in self.scope.all_functions()]
        return [*own, *self.python, *(name for name in REGISTRY if name[0].isalpha())]

    def visible(self, frame: Frame) -> list[str]:
        names: dict[str, None] = {}
        current: Frame | None = frame
        while current is not None:
            names.update(dict.fromkeys(str(key) for key in current.variables))
            if current.function is not None:
                names.update(dict.fromkeys(str(key) for key in current.function.facts))
            current = current.parent
        names.update(dict.fromkeys(str(key) for key in self.scope.definitions))
        names.update(dict.fromkeys(function.operator for function in self.scope.all_functions()))
        names.update(dict.fromkeys(self.python))
        names.update(dict.fromkeys(REGISTRY))
        return list(names)

    # ---------------------------------------------------------------------------------------------- one rule a node
    def term(self, node: Node, frame: Frame) -> Term:
        """The typed tree of an expression."""
        rule = self.RULES[type(node)]
        term = rule(self, node, frame)
        self.trace.append((node, term, frame))
        return term

    def all_terms(self, parts: Iterable[Node], frame: Frame) -> tuple[Term, ...]:
        """The terms of several parts; while collecting, each part's error is noted before the first stops the whole."""
        if not self.collect:
            return tuple(self.term(part, frame) for part in parts)
        found, failed = [], False
        for part in parts:
            try:
                found.append(self.term(part, frame))
            except NotationError as problem:
                self.note(problem)
                failed = True
            except Poisoned:
                failed = True
        if failed:
            raise Poisoned
        return tuple(found)

    def note(self, problem: NotationError) -> None:
        if not any(other.span == problem.span and other.number == problem.number for other in self.errors):
            self.errors.append(problem)

    def number_rule(self, node: Number, frame: Frame) -> Term:
        return self.terms.number(node.value, node)

    def size_rule(self, node: nodes.Size, frame: Frame) -> Term:
        name = node.axis.name
        value = self.solver.size(name, frame, node)
        tensor = self.find_quietly(node, frame)
        if value is not None and tensor is not None and isinstance(tensor, Term) and tensor.operator != "number":
            raise self.error(
                205,
                f"{name} is both an axis and a tensor",
                node,
                hint=f"write size({name}) for the size, or abs({name}) for the absolute value",
            )
        if value is not None:
            return self.scalar_term(value, f"|{name}|", node)
        if tensor is not None:
            return self.apply("abs", (tensor,), (), node, frame, (node,))
        axes = sorted({a for a in self.axes_in_sight(frame)})
        if name in axes or self.axis_is_mentioned(name):
            if self.demand:
                return self.scalar_term(self.unknown_size(name), f"|{name}|", node)
            raise self.unknown_axis_size(name, node)
        meant = near(name, axes)
        raise self.error(
            204,
            f"there is no axis and no tensor {name}, so |{name}| has no value",
            node.axis,
            notes=(f"axes here: {', '.join(axes)}",) if axes else (),
            hint=f"did you mean |{meant[0]}|?" if meant else f"give the size by name: sizes={{{name!r}: 3}}",
        )

    def unknown_axis_size(self, name: str, place: Any):
        return self.error(
            309,
            f"the size of {name} is not known",
            place,
            notes=("no input has this axis, and no equation gives its size",),
            hint=f"give it by name: sizes={{{name!r}: 3}}",
        )

    def axis_is_mentioned(self, name: str) -> bool:
        mentioned = self.top.memo.get("axes")
        if mentioned is None:
            mentioned = {
                node.name
                for statement in self.scope.program.statements
                if isinstance(statement, (nodes.Declaration, nodes.Signature, nodes.Equation))
                for node in walk(statement)
                if isinstance(node, nodes.Axis)
            } - {
                node.axis.name
                for statement in self.scope.program.statements
                for node in walk(statement)
                if isinstance(node, nodes.Size)
            }
            mentioned |= {
                axis.name
                for _, _, sets, _ in self.scope.declarations
                for each in sets
                for axis, _ in each.axes
            }
            self.top.memo["axes"] = mentioned
        return name in mentioned

    def find_quietly(self, node: nodes.Size, frame: Frame) -> Term | None:
        name = node.axis.name
        base, _, label = name.partition("_")
        try:
            return self.find(Key(base, (label,) if label else ()), frame, node)
        except NotationError:
            return None

    def axes_in_sight(self, frame: Frame) -> set[str]:
        axes: set[str] = set()
        current: Frame | None = frame
        while current is not None:
            axes |= set(current.sizes)
            axes |= {plain(a) for term in current.variables.values() for a in term.shape}
            current = current.sizes_parent or current.parent
        return axes

    def power(self, node: nodes.Superscript, frame: Frame) -> Term:
        if len(node.components) != 1:
            raise self.error(
                201,
                f"{self.text(node)} is not known",
                node,
                hint="a name with several labels has to be declared, defined or given",
            )
        try:
            base = self.term(node.base, frame)
        except NotationError as problem:
            name = spelled(node)
            if problem.number == 201 and name is not None and not isinstance(node.components[0], Number):
                raise self.unknown(name.key(frame.index), node, frame) from None
            raise
        exponent = self.term(node.components[0], frame)
        return self.apply("^", (base, exponent), (), node, frame, (node.base, node.components[0]))

    def subscript_rule(self, node: nodes.Subscript, frame: Frame) -> Term:
        if spelled(node) is not None:
            return self.resolve_name(node, frame)
        raise self.error(
            112,
            f"the subscript of {self.text(node.base)} says neither an index nor a rename",
            node,
            hint="an index is written X_{seq(1)}, a rename X_{a→b}",
        )

    def superscript_rule(self, node: nodes.Superscript, frame: Frame) -> Term:
        return self.resolve_name(node, frame) if spelled(node) is not None else self.power(node, frame)

    def index_rule(self, node: nodes.Index, frame: Frame) -> Term:
        parts = self.all_terms((node.base, *(index for _, index in node.items)), frame)
        return elements.index(self, parts[0], node, parts[1:], frame)

    def rename_rule(self, node: nodes.Rename, frame: Frame) -> Term:
        base = self.term(node.base, frame)
        return calls.rename(self, base, node, frame)

    def starred_rule(self, node: nodes.Starred, frame: Frame) -> Term:
        base = self.term(node.base, frame)
        names = {axis: axis + node.mark for axis in base.shape if "@" not in axis}
        return self.renamed(base, names, node)

    def renamed(self, term: Term, names: dict[str, str], node: Any) -> Term:
        names = {old: new for old, new in names.items() if old != new}
        if not names:
            return term
        shape = {names.get(axis, axis): size for axis, size in term.shape.items()}
        pairs = tuple(sorted(names.items()))
        if term.operator == "rename":
            inner = dict(term.options)
            combined = {old: names.pop(new, new) for old, new in inner.items()} | names
            combined = {old: new for old, new in combined.items() if old != new}
            if not combined:
                return term.arguments[0]
            term, pairs = term.arguments[0], tuple(sorted(combined.items()))
        return self.terms.make("rename", (term,), options=pairs, shape=shape, boolean=term.boolean, node=node)

    def literal_rule(self, node: nodes.Literal, frame: Frame) -> Term:
        cells = [cell for row in node.rows for cell in row]
        most = getattr(self.limits, "literal", 10**6)
        if len(cells) > most:
            raise self.error(
                404, f"a literal of {len(cells)} numbers passes the limit of {most}", node,
                hint="give it as a tensor, or raise limits.literal",
            )  # fmt: skip
        extent = (len(node.rows), len(node.rows[0])) if len(node.axes) == 2 else (len(cells),)
        shape = dict(zip((axis.name for axis in node.axes), extent))
        entries = self.all_terms(cells, frame)
        for entry, cell in zip(entries, cells):
            clash = set(entry.shape) & set(shape)
            if clash:
                raise self.error(
                    306, f"this entry has the axis {clash.pop()} of the literal itself", cell, hint="rename it"
                )
        shape = {**self.broadcast(entries, node, node.span, "[…]", cells), **shape}
        names = tuple(axis.name for axis in node.axes)
        if all(entry.number is not None for entry in entries):
            numbers = tuple(entry.number for entry in entries)
            return self.terms.make("constant", options=(names, extent, _Numbers(numbers)), shape=shape, node=node)
        return self.terms.make("literal", entries, options=(names, extent), shape=shape, node=node)

    def cases_rule(self, node: nodes.Cases, frame: Frame) -> Term:
        return cases.cases(self, node, frame)

    def truth(self, term: Term, node: Node) -> Term:
        if not term.boolean:
            raise self.error(
                315, "a condition is due here, and this is a number", node, hint="compare it with something: i ≤ j, i = 1"
            )
        return term

    def indicator_rule(self, node: nodes.Indicator, frame: Frame) -> Term:
        condition = self.truth(self.term(node.condition, frame), node.condition)
        return self.terms.make("indicator", (condition,), shape=condition.shape, node=node)

    def sum_rule(self, node: nodes.IndexSum, frame: Frame) -> Term:
        return sums.index_sum(self, node, frame)

    def later_rule(self, node: Node, frame: Frame) -> Term:
        raise self.error(
            408, "derivatives parse, but do not run yet", node, hint="write the derivative out, or use an array that has one"
        )

    def call_rule(self, node: Call, frame: Frame) -> Term:
        return calls.call(self, node, frame)

    RULES = {
        Number: number_rule,
        Name: resolve_name,
        nodes.Subscript: subscript_rule,
        nodes.Superscript: superscript_rule,
        nodes.Index: index_rule,
        nodes.Rename: rename_rule,
        nodes.Starred: starred_rule,
        nodes.Size: size_rule,
        Call: call_rule,
        nodes.IndexSum: sum_rule,
        nodes.Literal: literal_rule,
        nodes.Cases: cases_rule,
        nodes.Indicator: indicator_rule,
        nodes.Differential: later_rule,
        nodes.Derivative: later_rule,
    }

    # --------------------------------------------------------------------------------------------- applying operators
    def broadcast(self, terms, node: Any, span: Any, operator: str, parts) -> dict[str, Any]:
        try:
            return broadcast(tuple(term.shape for term in terms), agree)
        except AxisProblem as problem:
            raise self.problem(problem, operator, terms, parts, span, ()) from None

    def apply(self, name: str, arguments: tuple[Term, ...], axes: tuple[tuple[str, Any], ...], node, frame, parts, options=()):
        """Apply a built-in operator; `axes` pairs the axes of the use with the nodes that name them."""
        record = REGISTRY[name]
        names = tuple(axis for axis, _ in axes)
        if record.kind == "elementwise" or not names:
            return self.elementwise(record, name, arguments, axes, node, parts, options)
        try:
            given = self.given_by(record, arguments, names, node, frame)
            if record.kind in ("reduction", "along") and len(arguments) == 1 and not record.lifted.variadic:
                if len(names) != 1 and len(record.lifted.formals) == 1:
                    raise AxisProblem("number", detail=(1, len(names)))
            shapes = tuple(argument.shape for argument in arguments)
            shape = lift(record.lifted_over(len(arguments)), names, shapes, agree, given, differing=name in ("⊕", "concat"))
        except AxisProblem as problem:
            raise self.problem(problem, name, arguments, parts, node, axes) from None
        static = tuple(options)
        if given:
            static += tuple((f"size {axis}", known(size)) for axis, size in given.items())
        return self.terms.make(record.name, arguments, names, static, shape, record.boolean[1], node)

    def given_by(self, record: Operator, arguments, names, node, frame) -> Mapping[str, Any] | None:
        if record.given is None:
            return None
        taken = {axis for argument in arguments for axis in argument.shape}
        sizes: dict[str, Any] = {}
        new = set(record.lifted.output) - {formal for group in record.lifted.inputs for formal in group}
        bound = bind(record.lifted, names) if not record.lifted.variadic else {}
        for formal in new:
            for axis in bound.get(formal, ()):
                size = self.solver.size(axis, frame, node)
                if size is None and self.demand:
                    size = self.unknown_size(axis)
                if size is None and record.kind != "structure":
                    place = next((part for part in getattr(node, "subscript", ()) if component(part) == axis), node)
                    raise self.unknown_axis_size(axis, place)
                if size is not None:
                    sizes[axis] = size
        del taken
        if any(not is_known(size) for size in sizes.values()):
            sizes = {axis: known(size) for axis, size in sizes.items()}
        return record.given(tuple(argument.shape for argument in arguments), names, sizes)

    def elementwise(self, record: Operator, name, arguments, axes, node, parts, options) -> Term:
        fewest, most = record.arity
        if record.kind not in ("elementwise", "contraction") and not axes and not (name in ("max", "min") and len(arguments) == 2):
            if record.lifted.formals:
                raise self.problem(AxisProblem("number", detail=(len(record.lifted.formals), 0)), name, arguments, parts, node, axes)
        if not fewest <= len(arguments) <= most:
            raise self.problem(
                AxisProblem("arity", detail=(fewest if fewest == most else f"{fewest} to {most}", len(arguments))),
                name, arguments, parts, node, axes,
            )  # fmt: skip
        if axes:
            raise self.problem(AxisProblem("number", detail=(0, len(axes))), name, arguments, parts, node, axes)
        self.check_truth(record, name, arguments, parts)
        shape = self.broadcast(arguments, node, node, name, parts)
        if name in ("+", "-", "⊙", "juxtaposed"):
            self.watch_outer(name, arguments, node, parts)
        folded = calls.fold(record.name, [argument.number for argument in arguments], options)
        if folded is not None:
            return self.terms.number(folded, node, boolean=record.boolean[1])
        return self.terms.make(record.name, arguments, (), tuple(options), shape, record.boolean[1], node)

    def check_truth(self, record: Operator, name: str, arguments, parts) -> None:
        if name == "where":
            self.truth(arguments[0], parts[0])
            return
        for argument, part in zip(arguments, parts):
            if record.boolean[0] and not argument.boolean:
                self.truth(argument, part)
            if argument.boolean and not record.boolean[0] and record.name not in ("=", "≠"):
                raise self.error(
                    315, f"{name} takes numbers, and this is a condition", part, hint="𝕀[…] turns a condition into 0 and 1"
                )

    def watch_outer(self, name: str, arguments, node, parts) -> None:
        left, right = (frozenset(axis for axis in argument.shape if "@" not in axis) for argument in arguments)
        if left <= right or right <= left:
            return
        message = f"{_sign(name)} joins {shown(arguments[0].shape)} with {shown(arguments[1].shape)}: an outer product"
        meant = [(axis, close) for axis in sorted(left - right) for close in near(axis, right - left, 1)]
        hint = "if that is not meant, check the names of the axes" + (
            f": did you mean {meant[0][0]} or {meant[0][1]}?" if meant else ""
        )
        if self.strict:
            raise self.error(
                314, message, node, notes=[self.described(p, a.shape) for p, a in zip(parts, arguments)], hint=hint
            )
        warning = Warned(message, node.span, hint)
        if warning not in self.warnings:
            self.warnings.append(warning)

    def problem(self, problem: AxisProblem, operator: str, arguments, parts, place, axes) -> NotationError:
        """Turn a shape that does not fit into an error that shows what each operand has."""
        notes = [self.described(part, argument.shape) for part, argument in zip(parts, arguments)]
        shown_operator = _sign(operator) + ("_{" + ", ".join(axis for axis, _ in axes) + "}" if axes else "")
        where = {axis: node for axis, node in axes}
        axis = problem.axis
        if problem.what == "missing":
            node = where.get(axis, place)
            have = sorted({name for argument in arguments for name in argument.shape if "@" not in name})
            lacking = [
                self.text(part)
                for part, argument in zip(parts, arguments)
                if axis not in argument.shape and hasattr(part, "span")
            ]
            who = " and ".join(lacking) if len(lacking) <= 2 else "its operands"
            verb = "lacks" if len(lacking) == 1 else "lack"
            reason = "" if len(arguments) < 2 or len(lacking) > 1 else "; both operands need it"
            return self.error(
                301,
                f"{shown_operator} needs the axis {axis}, which {who} {verb}{reason}",
                node,
                notes=notes,
                hint=self.other_axis(axis, have, arguments),
            )
        if problem.what == "sizes":
            first, second = (known(size) for size in problem.detail)
            return self.error(
                302,
                f"{plain(axis)} is {first} {self.where_sized(axis, first, arguments, parts)} and "
                f"{second} {self.where_sized(axis, second, arguments, parts)}",
                place,
                notes=notes + [f"{shown_operator} takes axes of one name as one axis, so their sizes must agree"],
                hint="rename one of the two, or give tensors of one size",
            )
        if problem.what == "clash":
            return self.error(
                306,
                f"{shown_operator} gives the axis {axis}, which its operand has already",
                where.get(axis, place),
                notes=notes,
                hint=f"rename the operand's {axis} first: X_{{{plain(axis)}→{plain(axis)}'}}",
            )
        if problem.what == "repeated":
            return self.error(303, f"{axis} is named twice", where.get(axis, place), hint="name each axis once")
        if problem.what == "arity":
            wanted, have_number = problem.detail
            plural = "" if wanted == 1 else "s"
            return self.error(
                304, f"{shown_operator} takes {wanted} argument{plural}, and was given {have_number}", place, notes=notes,
                hint=ARGUMENTS.get(operator),
            )  # fmt: skip
        if problem.what == "number":
            wanted, have_number = problem.detail
            return self.error(
                316,
                f"{_sign(operator)} takes {_count(wanted)}, and {_named(have_number)}",
                place,
                notes=notes,
                hint=_axes_hint(_sign(operator), wanted, have_number, arguments),
            )
        if problem.what == "whole":
            return self.error(310, str(problem.detail), place, notes=notes, hint="give sizes that divide")
        return self.error(301, str(problem.detail), place, notes=notes)


    def other_axis(self, axis: str, have: list[str], arguments) -> str | None:
        """The axis that may have been meant, where the operands lack the one that is named."""
        if axis not in have and (meant := near(axis, have, 1)):
            return did_you_mean(meant)
        shared = [name for name in have if all(name in argument.shape for argument in arguments)]
        if len(arguments) > 1:
            return f"both have {', '.join(shared)}" if shared else "they have no axis in common"
        return f"its axes are {', '.join(have)}" if have else None

    def where_sized(self, axis: str, size: Any, arguments, parts) -> str:
        """The operands that have the axis in this size."""
        found = [
            self.text(part)
            for part, argument in zip(parts, arguments)
            if hasattr(part, "span") and known(argument.shape.get(axis)) == size
        ]
        return "in " + ", ".join(dict.fromkeys(found)) if found else "elsewhere"


ARGUMENTS = {
    "where": "write where(condition, value, otherwise)",
    "clip": "write clip(X, low, high)",
    "index": "write index_{axis}(X, I)",
    "pow": "write pow(x, y), or x^y",
}


def _count(number: int) -> str:
    return "no axis" if number == 0 else "1 axis" if number == 1 else f"{number} axes"


def _named(number: int) -> str:
    return "none is named" if number == 0 else "1 is named" if number == 1 else f"{number} are named"


def _axes_hint(sign: str, wanted: int, have: int, arguments) -> str:
    axes = [axis for argument in arguments for axis in argument.shape if "@" not in axis]
    if not wanted:
        return f"write {sign} without a subscript: it goes over every element"
    if have > wanted == 1:
        return f"apply it once along each axis: {sign}_{{{axes[0] if axes else 'a'}}} {sign}_{{…}} X"
    named = ", ".join(axes[:wanted]) if len(axes) >= wanted else "axis" if wanted == 1 else "rows, columns"
    return f"name {'it' if wanted == 1 else 'them'} in the subscript, as in {sign}_{{{named}}}"


def _sign(operator: str) -> str:
    return {"juxtaposed": "the product", "negative": "−", "-": "−"}.get(operator, operator)


def _axes(names: set[str]) -> str:
    return ("the axis " if len(names) == 1 else "the axes ") + ", ".join(sorted(names))


def _rename_hint(missing: set[str], further: set[str]) -> str | None:
    if len(missing) == 1 and len(further) == 1:
        return f"rename it: [ … ]_{{{further.copy().pop()}→{missing.copy().pop()}}}"
    return None


def shown(shape: Mapping[str, Any]) -> str:
    """A shape for people: known sizes as numbers, lifted axes under their own names."""
    return show({plain(axis): known(size) if is_known(size) else _unsized(size) for axis, size in shape.items()})


def _unsized(size: Any) -> Any:
    text = str(size)
    return None if text.startswith("|") and text.endswith("|") and text.count("|") == 2 else text


def _plain_key(name: str) -> Key:
    from .names import key

    try:
        return key(name)
    except NotationError:
        return Key(name)


def match_key(name: Spelled, key: Key, indices: set[str]) -> dict[str, Any] | None:
    """What the index variables of a spelling are where it means `key`, or None: W^{l,Q} matches W^{1,Q} with l = 1."""
    if name.base != key.base or len(name.subscript) != len(key.subscript) or len(name.superscript) != len(key.superscript):
        return None
    found: dict[str, Any] = {}
    for node, text in zip((*name.subscript, *name.superscript), (*key.subscript, *key.superscript)):
        if isinstance(node, Name) and node.text in indices:
            if found.setdefault(node.text, text) != text:
                return None
        elif component(node) != text:
            return None
    return found


def nearest_call(frame: Frame) -> Frame:
    """The frame of the call that is being checked; it holds what depends on the call's sizes."""
    current = frame
    while current.function is None and current.parent is not None and current.parent.parent is not None:
        current = current.sizes_parent or current.parent
    return current


class _Numbers(tuple):
    """The entries of a literal; compares by identity first, for it may hold a million."""

    __slots__ = ()


__all__ = ["Checker", "Input", "Poisoned", "Warned", "Function"]
