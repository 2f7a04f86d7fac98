"""The tree and what is known of the inputs, to the typed tree: every name, axis and size found, or an error that teaches.

    Checker(scope, inputs, sizes).value("O")     the Term of a name
    Checker(scope, inputs, sizes).whole()        the Term of the program's last value

One rule for each kind of node stands in `Checker.RULES`; calls of the user's own functions are in `calls.py`,
definitions by elements in `elements.py`, sizes in `solve.py`, and what is listed at the end of `Checker` in its own
module each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.lengths import too_many_cells
from grammar.nodes import Call, Name, Node, Number

from ..core.limits import DEFAULT, Limits
from ..programs.given_names import Speaks, refuse_unused
from ..scope.names import Key, spelled
from ..scope.symbols import Claim, Definition, Scope
from ..terms.environment import Environment, source_name
from ..terms.folding import Numbers
from ..terms.terms import Term, TermGraph
from . import application as applying
from . import axis_sizes, calls, cases, elements, lookup, renames, sums, unknown_names
from . import budget as work
from . import claims as stated
from . import declarations as given_inputs
from . import diagnostics as misfits
from .diagnostics import shown
from .made_sizes import Aside
from .report import AlreadyReported, CheckWarning, InputType
from .size_solver import SizeSolver


class Checker:
    """Types a program for given inputs.

    With `infer_parameters`, a declared name that is not given becomes an input with the shape of its declaration (that is how a
    program's parameters are found); with `recover`, errors are gathered in `errors` and checking goes on. `told` are the
    inputs that were given by keyword: where they are said, each of them and each size has to be one of the program's, or of
    the axes `besides` that arguments have.
    """

    def __init__(
        self,
        scope: Scope,
        inputs: Mapping[Key, InputType] | None = None,
        sizes: Mapping[str, int] | None = None,
        infer_parameters: bool = False,
        recover: bool = False,
        strict: bool = False,
        python: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        told: Iterable[str] | None = None,
        besides: Iterable[str] = (),
    ):
        self.scope = scope
        self.inputs = dict(inputs or {})
        self.given_sizes = dict(sizes or {})
        self.infer_parameters, self.recover, self.strict = infer_parameters, recover, strict
        self.python = python or {}
        self.limits = limits or DEFAULT
        self.graph = TermGraph()
        self.errors: list[NotationError] = []
        self.warnings: list[CheckWarning] = []
        self.trace: list[tuple[Node, Term, Environment]] = []
        self.steps = 0
        self.types: dict[str, Any] = {}
        self.parameters: dict[Key, Term] = {}
        self.used: set[Key] = set()
        self.pending_claims: list[tuple[Claim, Environment]] = []
        self.claim_terms: list[tuple[Term, Any, tuple[int, int]]] = []
        self.guards: list[Term] = []
        self.top = Environment()
        self.unnamed = Environment()  # of what is given and stands nowhere in the program
        self.sized: set[str] = set()  # the axes of inputs that the program names
        self.aside: Aside | None = None  # which types what a scope makes, where a size is asked for
        self.rules: Checker | None = None  # which types the differentials of operators
        self.perturbations: dict[int, Term] | None = None  # of the terms of an equation of differentials
        self.solver = SizeSolver(self)
        self.speaks = Speaks(scope, self.inputs)
        if told is not None:
            refuse_unused(self.speaks, told, set(self.given_sizes).difference(besides))
        self.prepare_inputs()
        self.watch_replaced()
        self.top.complete = True

    # ------------------------------------------------------------------------------------------------------- errors
    def error(
        self, number: int, message: str, place: Any, notes: Iterable[str] = (), hint: str | None = None, labels=()
    ):
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
        term = self.last_term(last)
        self.solver.check()
        self.check_claims()
        return self.drop_lifting(term, last.statement.sides[0] if isinstance(last, Definition) else last)

    def last_term(self, last: Any) -> Term:
        """The Term of the definition or expression that is the program's value."""
        if isinstance(last, Definition):
            return self.definition(last, self.top)
        if not self.scope.of_claim:
            return self.infer(last, self.top)
        term = self.infer(last, self.with_elements((last,), self.top))
        return self.renamed(term, {axis: source_name(axis) for axis in term.shape if elements.of_index(axis)}, last)

    def value(self, key: Key) -> Term:
        """The Term of a name that the program defines or is given."""
        found = self.find(key, self.top, None)
        if found is None:
            raise self.unknown(key, None, self.top)  # it stands nowhere in the formula
        self.solver.check()
        self.check_claims(whole=False)
        return self.drop_lifting(found, self.scope.program)

    def drop_lifting(self, term: Term, node: Any) -> Term:
        """Lifted axes get their own names again."""
        lifted = [axis for axis in term.shape if "@" in axis]
        if not lifted:
            return term
        for axis in lifted:
            if source_name(axis) in term.shape:
                raise self.error(
                    306,
                    f"the axis {source_name(axis)} of an input meets another {source_name(axis)} of the result",
                    node,
                    notes=(f"the result has {shown({source_name(a): s for a, s in term.shape.items()})}",),
                    hint=f"rename the further axis {source_name(axis)} of the input",
                )
        return self.renamed(term, {axis: source_name(axis) for axis in lifted}, node)

    # ---------------------------------------------------------------------------------------------- one rule a node
    def infer(self, node: Node, env: Environment) -> Term:
        """The typed tree of an expression."""
        rule = self.RULES[type(node)]
        term = rule(self, node, env)
        self.trace.append((node, term, env))
        return term

    def infer_all(self, parts: Iterable[Node], env: Environment) -> tuple[Term, ...]:
        """The terms of several parts; while collecting, each part's error is noted before the first stops the whole."""
        if not self.recover:
            return tuple([self.infer(part, env) for part in parts])
        found, failed = [], False
        for part in parts:
            try:
                found.append(self.infer(part, env))
            except NotationError as problem:
                self.note(problem)
                failed = True
            except AlreadyReported:
                failed = True
        if failed:
            raise AlreadyReported
        return tuple(found)

    def note(self, problem: NotationError) -> None:
        if not any(other.span == problem.span and other.number == problem.number for other in self.errors):
            self.errors.append(problem)

    def number_rule(self, node: Number, env: Environment) -> Term:
        return self.graph.number(node.value, node)

    def power(self, node: nodes.Superscript, env: Environment) -> Term:
        if len(node.components) != 1:
            raise self.error(
                201,
                f"{self.text(node)} is not known",
                node,
                hint="a name with several labels has to be declared, defined or given",
            )
        try:
            base = self.infer(node.base, env)
        except NotationError as problem:
            name = spelled(node)
            if problem.number == 201 and name is not None and not isinstance(node.components[0], Number):
                raise self.unknown(name.key(env.index), node, env) from None
            raise
        exponent = self.infer(node.components[0], env)
        return self.apply("^", (base, exponent), (), node, env, (node.base, node.components[0]))

    def subscript_rule(self, node: nodes.Subscript, env: Environment) -> Term:
        if spelled(node) is not None:
            return self.resolve_name(node, env)
        raise self.error(
            112,
            f"the subscript of {self.text(node.base)} says neither an index nor a rename",
            node,
            hint="an index is written X_{seq(1)}, a rename X_{a→b}",
        )

    def superscript_rule(self, node: nodes.Superscript, env: Environment) -> Term:
        return self.resolve_name(node, env) if spelled(node) is not None else self.power(node, env)

    def index_rule(self, node: nodes.Index, env: Environment) -> Term:
        parts = self.infer_all((node.base, *(index for _, index in node.items)), env)
        return elements.index(self, parts[0], node, parts[1:], env)

    def rename_rule(self, node: nodes.Rename, env: Environment) -> Term:
        base = self.infer(node.base, env)
        return renames.rename(self, base, node, env)

    def starred_rule(self, node: nodes.Starred, env: Environment) -> Term:
        base = self.infer(node.base, env)
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
        return self.graph.intern("rename", (term,), options=pairs, shape=shape, boolean=term.boolean, node=node)

    def literal_rule(self, node: nodes.Literal, env: Environment) -> Term:
        cells = [cell for row in node.rows for cell in row]
        if len(cells) > self.limits.literal:  # which a macro made
            raise too_many_cells(len(cells), self.limits.literal, self.scope.source, node.span)
        extent = (len(node.rows), len(node.rows[0])) if len(node.axes) == 2 else (len(cells),)
        names = tuple(self.one_axis(axis, env) for axis in node.axes)
        if len(set(names)) < len(names):
            raise self.error(303, f"{names[0]} is named twice", node, hint="rows and columns are two axes")
        shape = dict(zip(names, extent))
        entries = self.infer_all(cells, env)
        for entry, cell in zip(entries, cells):
            clash = set(entry.shape) & set(shape)
            if clash:
                raise self.error(
                    306, f"this entry has the axis {clash.pop()} of the literal itself", cell, hint="rename it"
                )
        shape = {**self.broadcast(entries, node, node.span, "[…]", cells), **shape}
        if all(entry.number is not None for entry in entries):
            numbers = tuple(entry.number for entry in entries)
            return self.graph.intern("constant", options=(names, extent, Numbers(numbers)), shape=shape, node=node)
        return self.graph.intern("literal", entries, options=(names, extent), shape=shape, node=node)

    def one_axis(self, axis: nodes.Axis, env: Environment) -> str:
        """What the name of an axis stands for, where that must be one axis."""
        found = env.real_axes(axis.name)
        if len(found) != 1:
            raise self.error(
                316, f"a literal takes one axis for {axis.name}, which stands for {', '.join(found)} here", axis,
                hint="use the function with one axis, or write the literal over axes that it names",
            )  # fmt: skip
        return found[0]

    def cases_rule(self, node: nodes.Cases, env: Environment) -> Term:
        return cases.cases(self, node, env)

    def indicator_rule(self, node: nodes.Indicator, env: Environment) -> Term:
        condition = self.truth(self.infer(node.condition, env), node.condition)
        return self.graph.intern("indicator", (condition,), shape=condition.shape, node=node)

    def sum_rule(self, node: nodes.IndexSum, env: Environment) -> Term:
        return sums.index_sum(self, node, env)

    def derivative_rule(self, node: nodes.Derivative, env: Environment) -> Term:
        from ..calculus.derivative import derivative

        return derivative(self, node, env)

    def differential_rule(self, node: nodes.Differential, env: Environment) -> Term:
        from ..calculus.derivative import differential

        return differential(self, node, env)

    def changing(self, sides: tuple[Node, ...], env: Environment):
        """See `calculus.changing`."""
        if not self.scope.varied:
            return nullcontext()
        from ..calculus.derivative import perturbing

        return perturbing(self, sides, env)

    def call_rule(self, node: Call, env: Environment) -> Term:
        return calls.call(self, node, env)

    # What these do stands in the modules that they come from; here they are the checker's methods.
    prepare_inputs = given_inputs.prepare_inputs
    lifted_input = given_inputs.lifted_input
    declaration = given_inputs.declaration
    set_axes = given_inputs.set_axes
    check_claims = stated.check_claims
    refused_head = stated.refused_head
    watch_replaced = stated.watch_replaced
    domains = stated.domains
    domain_claim = stated.domain_claim
    claim = stated.claim
    with_elements = stated.with_elements
    check_member = stated.check_member
    learn = stated.bind_size
    axes_differ = stated.axes_differ
    spend = work.spend
    find = lookup.find
    fact = lookup.fact
    define = lookup.define
    speaks_of_sizes = lookup.speaks_of_sizes
    definition = lookup.definition
    empty_range = lookup.empty_range
    definition_group = lookup.definition_group
    check_statement = lookup.check_statement
    local_declaration = lookup.local_declaration
    family = lookup.family
    member_key = lookup.member_key
    member_term = lookup.member_term
    unknown_bound = lookup.unknown_bound
    scalar_term = lookup.scalar_term
    input_or_parameter = lookup.input_or_parameter
    declared_parameter = lookup.declared_parameter
    number = lookup.number
    resolve_name = lookup.resolve_name
    by_value = lookup.by_value
    defined_number = lookup.defined_number
    unknown = unknown_names.unknown
    spellable = unknown_names.spellable
    unbracketed = unknown_names.unbracketed
    known_here = unknown_names.known_here
    unspelled = unknown_names.unspelled
    function_names = unknown_names.function_names
    visible = unknown_names.visible
    unknown_size = axis_sizes.unknown_size
    size_rule = axis_sizes.size_rule
    unknown_axis_size = axis_sizes.unknown_axis_size
    axis_is_mentioned = axis_sizes.axis_is_mentioned
    find_quietly = axis_sizes.find_quietly
    axes_in_sight = axis_sizes.axes_in_sight
    broadcast = applying.broadcast
    apply = applying.apply
    given_by = applying.new_axis_sizes
    elementwise = applying.elementwise
    check_truth = applying.check_truth
    watch_outer = applying.watch_outer
    truth = applying.truth
    problem = misfits.shape_error
    other_axis = misfits.other_axis
    where_sized = misfits.where_sized

    RULES = {
        Number: number_rule,
        Name: lookup.resolve_name,
        nodes.Subscript: subscript_rule,
        nodes.Superscript: superscript_rule,
        nodes.Index: index_rule,
        nodes.Rename: rename_rule,
        nodes.Starred: starred_rule,
        nodes.Size: axis_sizes.size_rule,
        Call: call_rule,
        nodes.IndexSum: sum_rule,
        nodes.Literal: literal_rule,
        nodes.Cases: cases_rule,
        nodes.Indicator: indicator_rule,
        nodes.Differential: differential_rule,
        nodes.Derivative: derivative_rule,
    }
