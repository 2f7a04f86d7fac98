"""Define the interface for type inference: the state of a checker, and the methods that rules call.

A rule infers the type of one kind of node. To infer the types of the node's children, it calls an `Inference` instead
of other rules. `checking.checker.Checker` implements this interface. The calculus package also uses it, to type the
differentials of operators.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from grammar.errors import NotationError, OperandNote
from grammar.nodes import Call, Node
from grammar.traversal import left_spine

from ..core.axes import show
from ..core.settings import Limits
from ..core.sizes import is_ground, resolve
from ..scope.names import Key, Spelled
from ..scope.symbols import Claim, Definition, Scope, SizeEquation
from .environment import Environment, distinct_names
from .terms import Term, TermGraph

if TYPE_CHECKING:
    from ..core.labels import Labels

MAX_RECURSIVE_OPERATIONS = 16  # In a longer chain, operands are typed in a loop.
MAX_SHORT_TEXT_CHARS = 1000  # A longer text may nest more operations than Python allows calls to nest.


class InputType(NamedTuple):
    """The type of an input: its shape, its value if it is an integer, whether it is Boolean, and its labels."""

    shape: Mapping[str, Any]
    number: int | None = None
    boolean: bool = False
    labels: tuple[tuple[str, Labels], ...] = ()  # The labels of each labeled axis.


class CheckWarning(NamedTuple):
    """A warning about a valid expression that may be a mistake. Its code is the error code in a strict check."""

    code: int
    message: str
    span: tuple[int, int]
    hint: str
    evaluating: bool = False  # Whether an evaluation gives this warning, too.

    def make_strict_error(self, source: str) -> NotationError:
        """Return the error that a strict check raises in place of this warning."""
        return NotationError(self.code, self.message, source, self.span, hint=self.hint)


class AlreadyReportedError(Exception):
    """Raised for a node with a recorded error, so that its parents record no further errors."""


class SizesInterface(ABC):
    """The interface of the size solver.

    `declared` contains size equations from declarations, with their environments.
    """

    declared: list[tuple[SizeEquation, Environment]]

    @abstractmethod
    def size(self, axis: str, env: Environment, node: Any = None) -> Any:
        """Return |axis| in an environment, or None if it is unknown."""

    @abstractmethod
    def size_of(self, axis: str, env: Environment, node: Any = None) -> Any:
        """Return the size of a tensor's axis, even if the axis name has another meaning inside a function."""

    @abstractmethod
    def size_said(self, axis: str, env: Environment, node: Any = None) -> Any:
        """Return |axis| from inputs and equations only, or None if they do not determine it."""

    @abstractmethod
    def inferring(self, infers: bool) -> AbstractContextManager[None]:
        """Return a context that turns inference from the types of expressions on or off."""

    @abstractmethod
    def scalar(self, key: Key, env: Environment, node: Any = None) -> Any:
        """Return the value of a size variable, such as n in seq[n], or None if it is unknown."""

    @abstractmethod
    def number(self, node: Node, env: Environment) -> Any:
        """Return a size that determines the form of the program, or None if it is unknown.

        Raise UndecidedSizeError if an evaluation needs the size but it is symbolic.
        """

    @abstractmethod
    def value(self, node: Node, env: Environment) -> Any:
        """Return the value of a size expression, or None if it contains an unknown."""

    @abstractmethod
    def solve_name(self, node: Node, value: Any, env: Environment) -> tuple[Key, Any] | None:
        """Solve a size expression with a known value for its only unknown name.

        Return the name and its value, or None if there is no unique solution.
        """

    @abstractmethod
    def check(self) -> None:
        """Raise NotationError if a stated size differs from the known size."""

    @abstractmethod
    def settle(self) -> None:
        """Determine the remaining unknown sizes at top level from the stated equations."""


class Inference(ABC):
    """The interface for type inference for one program and given inputs, which `Checker` implements.

    If `infer_parameters` is true, a declared name without a value becomes an input with the declared shape. If
    `recover` is true, errors are collected in `errors` and checking continues. If `strict` is true, warnings about
    outer broadcasts, replaced built-ins and unused definitions become errors.
    """

    rolls: bool = True  # Whether recurrences may become loops.
    RULES: ClassVar[Mapping[type, Callable[[Any, Any, Environment], Term]]]  # Maps each node class to its rule.
    solver: SizesInterface

    def __init__(
        self,
        scope: Scope,
        inputs: Mapping[Key, InputType],
        sizes: Mapping[str, Any],  # Maps axis names to integers or unknown range ends.
        infer_parameters: bool,
        recover: bool,
        strict: bool,
        python: Mapping[str, Any],
        limits: Limits,
    ):
        self.scope: Scope = scope
        self.inputs: dict[Key, InputType] = dict(inputs)
        self.labels: dict[str, dict[str, Labels]] = {
            str(name): dict(given.labels) for name, given in self.inputs.items() if given.labels
        }
        self.axes_of_variables: dict[int, tuple[Term, dict[str, str], Term]] = {}  # See `Starred` in `terms.labels`.
        self.given_sizes: dict[str, Any] = dict(sizes)
        self.infer_parameters: bool = infer_parameters
        self.recover: bool = recover
        self.strict: bool = strict
        # The error for the first outer broadcast. The caller raises it if outer broadcasts are not allowed.
        self.outer: NotationError | None = None
        self.python: Mapping[str, Any] = python
        self.limits: Limits = limits
        self.graph: TermGraph = TermGraph()
        self.is_long: bool = len(scope.source) > MAX_SHORT_TEXT_CHARS
        self.left: tuple[Node, Environment, Any] | None = None  # The first operand of the current node, typed before.
        self.ahead: set[int] = set()  # Environments whose definitions are being evaluated in advance.
        self.top: Environment = Environment()
        self.unnamed: Environment = Environment()  # The sizes of inputs that the program does not mention.
        self.sized: set[str] = set()  # The axes of the inputs that the program mentions.
        self.naming: set[tuple[Key, int]] = set()  # Names whose definitions are being evaluated, with their calls.
        self.used: set[Key] = set()  # The inputs that were looked up.
        self.parameters: dict[Key, Term] = {}  # The inferred parameters.
        self.declared_shapes: dict[int, dict[str, Any]] = {}  # The shapes of sets, by id.
        self.types: dict[str, Any] = {}  # The shapes of names.
        self.trace: list[tuple[Node, Term, Environment]] = []
        self.errors: list[NotationError] = []
        self.noted: set[tuple[Any, ...]] = set()  # The spans and codes of the recorded errors.
        self.warnings: list[CheckWarning] = []
        self.pending_claims: list[tuple[Claim, Environment]] = []
        self.typing = False  # Whether only types are needed, because an assertion has no value.
        self.claim_terms: list[tuple[Term, Any, tuple[int, int], tuple[int, int] | None]] = []  # From each `Claim`.
        self.only_typed: dict[tuple[int, int], tuple[str, str]] = {}  # The reason and a hint, by assertion.
        self.guards: list[Term] = []  # Conditions under which the indices of elements are in range.
        self.axes_named: frozenset[str] | None = None  # The axes that the program names outside sizes.
        self.axes_stated: frozenset[str] | None = None  # The axes in declarations, signatures and equations.
        self.needs_sizes: dict[Key, bool] = {}  # Whether the value of a name depends on the sizes of a call.
        self.size_inference: Any = None  # Infers sizes from types if they are unknown otherwise.
        self.sweeps: dict[
            int, tuple[Term, dict[int, Term]]
        ] = {}  # Numbers, and their derivatives with respect to several names.
        self.rolled: dict[str, Any] = {}  # Maps markers to loops whose bodies are being typed.
        self.attempts = 0  # The number of current attempts to type a loop.
        self.derived = 0  # The number of derivatives and differentials typed so far.
        self.shows_layers: bool = recover  # Whether to unroll layers, so that each layer is shown.
        self.labeled: frozenset[str] | None = None  # The base names of names with labels.
        self.labels_given: frozenset[str] | None = None  # The bases of inputs with labels.
        self.layered: dict[int, bool] = {}  # Whether a function contains layers as families, by its id.
        self.rules: Inference | None = None  # Types the differentials of operators.
        self.perturbations: dict[int, Term] | None = None  # By term, inside an equation of differentials.

    # ------------------------------------------------------------------------------------------------------- lookup
    @abstractmethod
    def find(self, key: Key, env: Environment, node: Any) -> Term | None:
        """Return the term of a key in an environment, or None if the key is undefined there."""

    @abstractmethod
    def find_spelled(self, name: Spelled, env: Environment, node: Node) -> Term | None:
        """Look up the term of a name: try its scripts as spelled in the source, then the values of its scripts.

        Return None if neither lookup finds a term.
        """

    @abstractmethod
    def infer_member(self, family: Any, env: Environment) -> Term:
        """Return the term of one family member. The environment contains the member's index."""

    @abstractmethod
    def fork(self, scope: Scope | None = None) -> Inference:
        """Return a checker with a separate graph, for the same program and inputs.

        If `scope` is given, the checker is for this scope and has no inputs.
        """

    def definitions_of(self, holder: Environment) -> Mapping[Key, list[Definition]]:
        """Return the definitions in the function of this environment, or in the program if there is no function."""
        return self.scope.definitions if holder.function is None else holder.function.facts

    def families_of(self, holder: Environment) -> Sequence[Definition]:
        """Return the families in the function of this environment, or in the program if there is no function."""
        return self.scope.families if holder.function is None else holder.function.families

    def families_around(self, env: Environment) -> list[Definition]:
        """Return the families in the program and in all functions whose calls enclose this environment."""
        return [*self.scope.families, *(family for call in env.calls for family in self.families_of(call))]

    def infer(self, node: Node, env: Environment) -> Term:
        """Return the term of an expression in an environment."""
        if self.is_long:
            if self.left is not None and self.left[0] is node and self.left[1] is env:
                return self.first_operand()
            spine = left_spine(node)
            if len(spine) > MAX_RECURSIVE_OPERATIONS:
                return self.along(spine, env)
        term = self.RULES[type(node)](self, node, env)
        self.trace.append((node, term, env))
        return term

    def along(self, spine: list[Call], env: Environment) -> Term:
        """Return the term of a + b + c + …. Type the operands from left to right to avoid deep recursion."""
        attempt = self.attempt(lambda: self.infer(spine[-1].arguments[0], env))
        for node in reversed(spine):
            self.left = (node.arguments[0], env, attempt)
            attempt = self.attempt(lambda node=node: self.RULES[type(node)](self, node, env))
            self.left = None
            if isinstance(attempt, Term):
                self.trace.append((node, attempt, env))
        if not isinstance(attempt, Term):
            raise attempt
        return attempt

    def attempt(self, work: Callable[[], Term]) -> Term | NotationError | AlreadyReportedError:
        """Return the term that `work` returns. In recovery, return an error instead of raising it."""
        try:
            return work()
        except (NotationError, AlreadyReportedError) as problem:
            if not self.recover:
                raise
            return problem

    def first_operand(self) -> Term:
        """Return the term of the first operand of an operation in a chain. This operand has already been typed."""
        assert self.left is not None
        first_operand, self.left = self.left[2], None
        if not isinstance(first_operand, Term):
            raise first_operand
        return first_operand

    def infer_all(self, parts: Iterable[Node], env: Environment) -> tuple[Term, ...]:
        """Return the terms of several nodes. In recovery, record all errors, then raise AlreadyReportedError."""
        if not self.recover:
            return tuple([self.infer(part, env) for part in parts])
        terms: list[Term] = []
        failed = False
        for part in parts:
            try:
                terms.append(self.infer(part, env))
            except NotationError as problem:
                self.note(problem)
                failed = True
            except AlreadyReportedError:
                failed = True
        if failed:
            raise AlreadyReportedError
        return tuple(terms)

    def number(self, key: Key, env: Environment) -> Any:
        """Return the value of a name that is a number.

        Return None if the name has no value, if its evaluation fails, or if it is already being evaluated.
        """
        pending = (key, id(env.nearest_call))
        if pending in self.naming:
            return None
        self.naming.add(pending)
        try:
            term = self.find(key, env, None)
        except NotationError:
            return None
        finally:
            self.naming.discard(pending)
        value = term.number if term is not None else None
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def spread(self, term: Term, sizes: Mapping[str, Any], node: Any = None) -> Term:
        """Broadcast a term over the axes of `sizes` that the term lacks."""
        if sizes.keys() <= term.shape.keys():
            return term
        missing = tuple((axis, size) for axis, size in sizes.items() if axis not in term.shape)
        shape, node = {**term.shape, **dict(missing)}, node or term.node
        return self.graph.intern("spread", (term,), options=missing, shape=shape, boolean=term.boolean, node=node)

    def unknown_member(self, family: Definition, shape: Mapping[str, Any], boolean: bool) -> Term:
        """Return a term that represents any member of a family and differs from all other terms."""
        options = (f"a member {len(self.graph)}", family.name.base)
        return self.graph.intern("input", options=options, shape=dict(shape), boolean=boolean, node=family.head)

    def renamed(self, term: Term, names: Mapping[str, str], node: Any) -> Term:
        """Rename some axes of a term. Successive renames become one rename."""
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

    # ------------------------------------------------------------------------------------------------------- errors
    def error(
        self, code: int, message: str, node: Any, notes: Iterable[str] = (), hint: str | None = None,
        labels: Sequence[tuple[tuple[int, int], str]] = (), **fields: str | None,
    ) -> NotationError:  # fmt: skip
        """Return the error for a span or a node in the formula."""
        span: Any = getattr(node, "span", node)
        return NotationError(code, message, self.scope.source, span, tuple(notes), hint, labels, **fields)

    def note(self, problem: NotationError) -> None:
        """Record an error, unless an error with the same code is already recorded for the same location."""
        if (problem.span, problem.code) not in self.noted:
            self.noted.add((problem.span, problem.code))
            self.errors.append(problem)

    def text(self, node: Any) -> str:
        """Return the source text of a node on one line, shortened to at most 80 characters."""
        span = getattr(node, "span", node)
        text = self.scope.source[span[0] : span[1]]
        if len(text) > 4000:  # The middle is left out, so it is not read.
            text = text[:2000] + " … " + text[-2000:]
        text = " ".join(text.split())
        return text if len(text) <= 80 else f"{text[:60]} … {text[-16:]}"

    def describe_with_shape(self, node: Node, shape: Mapping[str, Any]) -> str:
        """Return the source text of an operand with its shape, such as `X : ℝ^{seq[3]}`, for an error message."""
        span: Any = getattr(node, "span", node)
        if span is None:  # The operand is not part of the text.
            return f"an operand : {format_shape(shape)}"
        operand = " ".join(self.scope.source[span[0] : span[1]].split())
        return OperandNote(f"{self.text(node)} : {format_shape(shape)}", operand, distinct_names(shape).values())

    # ------------------------------------------------------------------------------------------------------- limits
    def pieces(self) -> int:
        """Return the number of nodes typed so far plus the number of terms."""
        typed = len(self.trace) + (len(self.rules.trace) if self.rules is not None else 0)
        return typed + len(self.graph)

    def spend(self, node: Any) -> None:
        """Raise NotationError at `node` if `pieces` exceeds the limit. The node is a call, sum, range or derivative.

        The number of pieces is usually proportional to the length of the source. It can grow faster in nested calls, in
        sums and recurrences over long ranges, and in nested derivatives. `limits.max_expanded_nodes` limits this
        growth.
        """
        limit = self.limits.max_expanded_nodes
        if self.pieces() > limit + len(self.scope.source):
            raise self.error(
                404, f"the formula expands to more than {limit} nodes", node,
                notes=("a call expands the body of its function, a recurrence its steps, a sum of members its terms",),
                hint="raise limits.max_expanded_nodes",
            )  # fmt: skip


def format_shape(shape: Mapping[str, Any]) -> str:
    """Format a shape for display. Known sizes are numbers, and names of lifted axes contain no `@`."""
    names = distinct_names(shape)
    return show({names[axis]: resolve(size) if is_ground(size) else _drop_size(size) for axis, size in shape.items()})


def _drop_size(size: Any) -> Any:
    text = str(size)
    return None if text.startswith("|") and text.endswith("|") and text.count("|") == 2 else text
