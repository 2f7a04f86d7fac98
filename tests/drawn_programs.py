"""Programs that are right by construction, drawn at random: statements, functions, and what they cover."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from drawn_sight import AXES, GENERIC, OVER_AXES, Drawing, Leaf, Sight, count, is_generic, number, shaped
from drawn_terms import called, count_of, fitting, mentioning, mentions
from drawn_tree import Definition, Elements, Family, Function, Input, Program, Shape, Term, names_in, terms_of, written

from namedtensor.checking.loops import MIN_LOOP_STEPS


# ---------------------------------------------------------------------------------------------------------- statements
def draw_shape(d: Drawing, most: int = 3) -> Shape:
    while True:
        axes = d.random.sample(AXES, d.random.choices([0, 1, 2, 3], [1, 4, 4, 1])[0])
        shape = {axis: d.sizes[axis] for axis in axes[:most]}
        if d.fits(shape):
            return shape


def definition(d: Drawing, sight: Sight, name: str, depth: int) -> tuple[Any, Leaf]:
    """A name for a term, with a claim at times."""
    shape = draw_shape(d)
    term = d.term(shape, depth, sight)
    claim = None
    if d.chance(0.12):
        claim = d.make("negative", shape, (d.make("negative", shape, (term,)),))
    leaf = Leaf(Term("name", (), (name,), shaped(shape)), by=name)
    return Definition(name, term, claim), leaf


def elements(d: Drawing, sight: Sight, name: str, depth: int) -> tuple[Any, Leaf] | None:
    """A definition by elements: every element of an axis computed alone."""
    able = [axis for axis in sight.sized if axis in d.sizes and d.speak_of(axis)]
    if not able:
        return None
    axes = d.random.sample(able, 2 if len(able) > 1 and d.chance(0.3) else 1)
    shape = {axis: size for axis, size in draw_shape(d, 1).items() if axis not in axes}
    over = tuple(zip(axes, "ij"))
    variables = [Leaf(Term("name", (), (variable,)), "whole", 1, d.sizes[axis]) for axis, variable in over]
    inside = replace(sight.plus(*variables), variables=("i", "j"))
    term = d.term(shape, depth, inside)
    axis, variable = over[0]
    at = Term("name", (), (variable,))
    whole = d.leaf({**shape, axis: d.sizes[axis]}, sight)
    back = d.make("infix", {}, (d.make("infix", {}, (Term("size", (), (axis,)), at), "−"), number(1)), "+")
    element = d.make("index", shape, (whole, d.one([at, back])), (axis,), "subscript")
    term = d.make("infix", shape, (term, element), d.one("+⊙"))
    whole_shape = {**shape, **{axis: d.sizes[axis] for axis in axes}}
    return Elements(name, over, term), Leaf(Term("name", (), (name,), shaped(whole_shape)), by=name)


def family(
    d: Drawing, sight: Sight, name: str, index: str, depth: int, sources: tuple[Leaf, ...] = ()
) -> tuple[Any, Leaf]:
    """A recurrence with one or two starts, and at times a member of a family of parameters in its rule.

    `sources` are a function's parameters, one of which its rule names, and its starts where that is right.
    """
    shape = d.one(sources).term.sizes if sources and d.chance(0.7) else draw_shape(d, 2)
    starts_count = d.one([1, 1, 2])
    low = starts_count + d.one([0, 0, 1]) - (d.one([0, 0, 1]))
    low = max(low, starts_count)
    long = not sources and d.chance(0.12)
    high = low + (
        MIN_LOOP_STEPS - 1 + d.random.randint(-2, 8) if long else d.one([0, 1, 1, 2])
    )  # about where loops begin
    if long:
        shape, depth = dict(list(shape.items())[:1]), min(depth, 1)
    starts = []
    for n in range(starts_count):
        starts.append((low - starts_count + n, d.term(shape, int(d.chance(0.5)), sight)))
    members = [Leaf(Term("member", (), (name, index, -back), shaped(shape))) for back in range(1, starts_count + 1)]
    inside = sight.plus(*members, *members, Leaf(Term("name", (), (index,)), "whole", low, high))
    rule = d.term(shape, depth, replace(inside, variables=(*inside.variables, index)))
    if long and d.chance(0.5):  # whole numbers stay whole
        (rule, sign) = d.one(starts)[1], d.one(["+", "−"])
        rule = d.make("infix", shape, (members[0].term, rule), sign)
    elif long:  # what stays in range
        rule = d.make("applied", shape, (rule,), d.one(["tanh", "sin", "cos", "σ"]))
        rule = d.make("infix", shape, (rule, d.make("infix", shape, (members[-1].term, number(2)), "/")), "+")
    else:
        rule = d.make("infix", shape, (rule, members[-1].term), d.one(["+", "−", "⊙"]))
    if sources:
        rule = with_parameter(d, rule, d.one(sources))
    parameters = parameter_family(d, shape, high) if low >= 1 and not sources and not long and d.chance(0.25) else None
    if parameters is not None:
        rule = d.make("infix", shape, (rule, Term("member", (), (parameters, index, 0), shaped(shape))), "+")
    last = None
    if not sources and d.chance(0.2):
        last = d.fresh("L")
        d.inputs.append(Input(last, (), "int", (high,)))
    at = d.random.randint(low, high) if d.chance(0.3) and last is None else high
    result = Family(name, index, tuple(starts), rule, low, high, last)
    return result, Leaf(Term("member", (), (name, None, at), shaped(shape)))


def with_parameter(d: Drawing, term: Term, leaf: Leaf) -> Term:
    """The term and something of the leaf, in the term's shape."""
    sizes = leaf.term.sizes
    axes = tuple(axis for axis in sizes if sizes[axis] != term.sizes.get(axis))
    if any(axis in term.sizes for axis in axes):
        axes = tuple(sizes)
    part = (
        d.make("over", {a: n for a, n in sizes.items() if a not in axes}, (leaf.term,), "mean", axes, None)
        if axes
        else leaf.term
    )
    return d.make("infix", term.sizes | part.sizes, (term, part), "+")


def parameter_family(d: Drawing, shape: Shape, high: int) -> str | None:
    """W^l ∈ ℝ^{…} for l = 1, …, n, its members given."""
    if not d.may_be_given(shape):
        return None
    name = "WRST"[len(d.parameter_families)]
    for n in range(1, high + 1):
        entries = tuple(d.random.randint(-8, 8) / 4 for _ in range(count(shape)))
        d.inputs.append(Input(f"{name}^{{{n}}}", shaped(shape), d.float, entries, tuple(sorted(shape))))
    d.parameter_families.append((name, tuple(sorted(shape)), high))
    return name


def function(d: Drawing, sight: Sight, name: str, depth: int) -> Function:
    """A function with a signature or without, of fixed or open sizes, with definitions and families of its own."""
    generic = d.chance(0.5)
    own_sizes = dict(d.sizes)
    if not generic and d.chance(0.3):
        own_sizes = {axis: d.random.randint(1, 4) for axis in AXES}
    names = ["X", "Y", "Z"][: d.random.choices([1, 2, 3], [4, 4, 1])[0]]
    parameters = []
    for text in names:
        axes = d.random.sample(AXES, d.random.choices([0, 1, 2], [1, 5, 3])[0])
        shape = {axis: GENERIC + AXES.index(axis) if generic else own_sizes[axis] for axis in axes}
        parameters.append((text, shaped(shape)))
    signature = d.chance(0.8)
    leaves = tuple(Leaf(Term("name", (), (item,), shape), by=item) for item, shape in parameters)
    axes = {axis: size for _, shape in parameters for axis, size in shape}
    inside = replace(sight, sized=tuple(sorted(axes)), leaves=outside_leaves(d, sight))
    options = ("w",) if d.chance(0.15) else ()
    inside = inside.plus(*leaves, *leaves, *(Leaf(Term("name", (), (other,))) for other in options))
    outer, d.sizes, d.bound = d.sizes, {**own_sizes, **axes}, axes
    facts = []
    for n in range(d.random.choices([0, 1, 2], [4, 4, 1])[0]):
        if d.chance(0.5):
            result: Any = family(d, inside, family_name(n, name[-1]), "t", depth - 1, leaves)
        else:
            title = f"R_{{{name[-1]}{n}}}" if d.chance(0.7) else "RST"[n]
            shape = d.one([shape for _, shape in parameters])
            term = with_parameter(d, d.term(dict(shape), depth - 1, inside), d.one(leaves))
            result = Definition(title, term), Leaf(Term("name", (), (title,), term.shape), by=title)
        facts.append(result[0])
        inside = inside.plus(result[1], result[1])
    gives = d.subset(axes, 0.5)
    if not d.fits(gives):
        gives = {}
    body = d.term(gives, depth, inside)
    for fact in facts:  # each is needed
        leaf = next(other for other in inside.leaves if other.term.data[0] == fact.name)
        body = with_parameter(d, body, leaf) if not clashing(body, leaf.term) else d.make(
            "infix", body.sizes, (body, d.make("over", {}, (leaf.term,), "∑", tuple(leaf.term.sizes), None)), "+")  # fmt: skip
    body = with_parameter(d, body, leaves[0]) if not mentions(body, leaves) else body
    for option in options:
        body = d.make("infix", body.sizes, (body, Term("name", (), (option,))), "⊙")
    d.sizes, d.bound = outer, {}
    return Function(name, (), tuple(parameters), body, body.shape if signature else None, options, tuple(facts))


SIZED = ("size", "made", "split", "unroll", "pool", "maxk", "argmaxk", "onehot", "iota", "ones", "I")


def outside_leaves(d: Drawing, sight: Sight) -> tuple[Leaf, ...]:
    """What a function may name of what is outside."""
    leaves = sight.leaves
    if "sizes outside" in d.known:
        leaves = tuple(leaf for leaf in leaves if leaf.term.data[0] not in d.speaking)
    return leaves


def speaks_of_sizes(thing: Any) -> bool:
    return isinstance(thing, Elements) or any(
        term.form in SIZED or term.data[:1] and term.data[0] in SIZED for term in terms_of(thing)
    )


def family_name(position: int, function: str) -> str:
    """Families of two functions have one base, told apart by their labels."""
    return f"{'hpq'[position]}_{function}"


def clashing(term: Term, other: Term) -> bool:
    return any(term.sizes.get(axis, size) != size for axis, size in other.shape)


def function_over_axes(d: Drawing, sight: Sight, name: str, depth: int) -> Function:
    """g_{ax}, which says nothing of the axes that a use names; with ax' it takes one axis."""
    shape = {"ax": GENERIC + 9}
    leaf = Leaf(Term("name", (), ("X",), shaped(shape)), by="X")
    parameters: list[Any] = [("X", shaped(shape))]
    leaves = [leaf, leaf, leaf]
    if d.chance(0.3):
        parameters.append(("Y", shaped(shape)))
        leaves.append(Leaf(Term("name", (), ("Y",), shaped(shape)), by="Y"))
    inside = Sight(leaves=tuple(leaves), sized=("ax",))
    outer, d.sizes, d.bound, d.closed = d.sizes, {**d.sizes, **shape}, shape, True
    facts = []
    if d.chance(0.4):
        title = f"S_{{{name[0]}}}"
        term = with_parameter(d, d.term(shape, depth - 1, inside), leaf)
        facts.append(Definition(title, term))
        inside = inside.plus(Leaf(Term("name", (), (title,), shaped(shape))))
    gives = shape if d.chance(0.7) else {}
    body = d.term(shape, depth, inside)
    for fact in facts:
        body = d.make("infix", shape, (body, Term("name", (), (fact.name,), shaped(shape))), "+")
    one = d.chance(0.4)
    if one:
        other = {"ax'": GENERIC + 9}
        turned = d.make("rename", other, (leaf.term,), ("ax", "ax'"))
        met = d.make("infix", {**shape, **other}, (turned, leaf.term), d.one("+⊙"))
        body = d.make("infix", shape, (body, d.make("over", shape, (met,), d.one(["∑", "max"]), ("ax'",), None)), "+")
    if not mentions(body, [leaf]):
        body = d.make("infix", shape, (body, leaf.term), "+")
    if not gives:
        body = d.make("over", {}, (body,), d.one(["∑", "max", "norm"]), ("ax",), None)
    one = one or any(node.form == "over" and node.data[0] in ("cumsum", "cumprod", "sort") for node in body.walk())
    one = one or any(
        part.form == "over" and part.data[0] in ("cumsum", "cumprod", "sort") for part in terms_of(tuple(facts))
    )
    one = one or any(part.form in ("derivative", "rename") for part in terms_of((body, tuple(facts))))
    d.sizes, d.bound, d.closed = outer, {}, False
    text = " ".join(map(written, (body, *(fact.term for fact in facts))))
    signature = d.chance(0.7) or "ax" not in text.replace("max", "")  # else the subscript is a label
    signature = signature or any(
        part.form == "derivative" for part in terms_of((body, tuple(facts)))
    )  # else by all axes
    return Function(name, ("ax",), tuple(parameters), body, shaped(gives) if signature else None, (), tuple(facts), one)


def draw(seed: Any, known: Any = None, depth: int | None = None) -> Program:
    """The program of this seed."""
    for attempt in range(100):
        d = Drawing(f"{seed} {attempt}", known)
        program = drawn(d, depth)
        stated = dict(program.sizes)
        held = {*d.called_with, *sizes_in_functions(program)}  # what is stated holds in calls too
        if all(stated.get(axis, size) == size for axis, size in held) and not asks_for_one_of_two(program):
            return program
    raise AssertionError(f"seed {seed} gives no program")


def sizes_in_functions(program: Program) -> set[tuple[str, int]]:
    """The sizes of the axes that functions make, which |axis| in them would mean."""
    functions = [statement for statement in program.statements if isinstance(statement, Function)]
    result = {pair for other in functions for term in terms_of(other) for pair in term.shape}
    return {(axis, size) for axis, size in result if not is_generic(size)}


def asks_for_one_of_two(program: Program) -> bool:
    """Whether a function speaks of sizes where an axis has one of its own and, under the same name, one of a call."""
    for statement in program.statements:
        if isinstance(statement, Function) and speaks_of_sizes(statement):
            pairs = {pair for term in terms_of(statement) for pair in term.shape}
            known = {axis for axis, size in pairs if not is_generic(size)}
            if known & {axis for axis, size in pairs if is_generic(size)}:
                return True
    return False


def drawn(d: Drawing, depth: int | None) -> Program:
    deep = d.one([1, 2, 3, 3, 4]) if depth is None else depth
    leaves = tuple(d.given(draw_shape(d)) for _ in range(d.one([1, 2])))
    if d.chance(0.3):
        leaves += (d.given(draw_shape(d, 1), "whole"),)
    if d.chance(0.2):
        leaves += (d.given({}, d.one(["number", "whole"]), scalar=True),)
    spoken = {axis for input_ in d.inputs for axis, size in input_.shape if d.sizes[axis] == size}
    sized = tuple(sorted(spoken | {axis for axis in AXES if d.chance(0.25)}))
    sight = Sight(leaves=leaves, sized=sized)
    statements: list[Any] = []
    for n in range(1, d.one([0, 1, 2, 3]) + 1):
        kind = d.random.random()
        if kind < 0.35:
            result = function(d, sight, f"f_{n}", deep)
        elif kind < 0.5:
            result = function_over_axes(d, sight, OVER_AXES[n - 1], deep)
        else:
            element: Any = None
            if kind < 0.65:
                element = elements(d, sight, f"E_{n}", deep - 1)
            elif kind < 0.8:
                element = family(d, sight, f"F_{n}", d.one("tl"), deep - 1)
            element = element or definition(d, sight, f"D_{n}", deep)
            statements.append(element[0])
            sight = sight.plus(element[1], element[1])
            if speaks_of_sizes(element[0]) or names_in(element[0]) & d.speaking:
                d.speaking.add(element[0].name)
            continue
        statements.append(result)
        sight = replace(sight, functions=(*sight.functions, result, result))
    out = d.term(draw_shape(d), deep, sight)
    if d.chance(0.15):
        by = [leaf for leaf in sight.leaves if leaf.by is not None and count_of(leaf.term.sizes) <= 8]
        if by:
            leaf = d.one(by)
            inner = replace(sight, marks=((leaf.by, 1),), depth_of_derivatives=1)
            marked = {f"{axis}*": size for axis, size in leaf.term.sizes.items()}
            body = mentioning(d, draw_shape(d, 1), deep, inner, leaf)
            out = d.make("derivative", {**body.sizes, **marked}, (body,), leaf.by, "*")
    for statement in statements:
        if statement not in needed(statements, out) and d.chance(0.9):
            out = naming(d, out, statement, sight)
    statements = needed(statements, out)
    program = Program(tuple(d.inputs), shaped(d.stated), tuple(statements), out, tuple(d.parameter_families))
    return left_unsaid(d, tidy(lifted(d, program), d.fixed))


def naming(d: Drawing, out: Term, statement: Any, sight: Sight) -> Term:
    """The term and something that a statement gives, so that none is idle."""
    if not isinstance(statement, Function):
        leaf = next(other for other in sight.leaves if other.term.data[0] == statement.name)
        return with_parameter(d, out, leaf)
    shape = draw_shape(d, 2) | {
        axis: d.sizes.get(axis, 2) if is_generic(size) else size
        for axis, size in (statement.gives if statement.gives is not None else statement.body.shape)
        if not statement.over
    }
    for expected in (shape, {axis: n for axis, n in shape.items() if axis in dict(statement.body.shape)}):
        only = replace(sight, functions=(statement,))
        call = called(d, expected, 1, only) if fitting(statement, expected) else None
        if call is not None:
            return with_parameter(d, out, Leaf(call))
    return out


def needed(statements: list[Any], out: Term) -> list[Any]:
    """Those statements that the value needs, directly or by others; the others are kept at times, for all is checked."""
    expected, size = names_in(out), -1
    while len(expected) > size:
        size = len(expected)
        for statement in statements:
            if statement.name in expected:
                expected |= names_in(statement)
    return [line for line in statements if line.name in expected]


def tidy(program: Program, fixed: Shape) -> Program:
    """Without the inputs that nothing names; what they said of sizes that are spoken of is stated."""
    used = names_in((*program.statements, program.out))
    families = tuple(names for names in program.families if names[0] in used)
    had = {axis for input_ in program.inputs if input_.name in used for axis, _ in input_.shape}
    sizes = {axis: size for axis, size in fixed.items() if axis not in had} | dict(program.sizes)
    members = {f"{name}^{{{n}}}" for name, _, most in families for n in range(1, most + 1)}
    inputs = tuple(input_ for input_ in program.inputs if input_.name in used | members)
    return replace(program, inputs=inputs, families=families, sizes=shaped(sizes))


def left_unsaid(d: Drawing, program: Program) -> Program:
    """At times without the statement of a size that the program makes, and makes no other of."""
    result = surely_made(program) if d.chance(0.7) else ()
    return replace(program, made=result, sizes=tuple(size for size in program.sizes if size not in result))


def surely_made(program: Program) -> tuple[tuple[str, int], ...]:
    """The sizes, of those stated or left unsaid, that a literal of the program has, and no function or input has."""
    functions = tuple(statement for statement in program.statements if isinstance(statement, Function))
    others = tuple(statement for statement in program.statements if not isinstance(statement, Function))
    top = list(terms_of((*others, program.out)))
    elsewhere = {axis for term in terms_of(functions) for axis in axes_of(term)}
    elsewhere |= {axis for input_ in program.inputs for axis, _ in input_.shape}
    result = []
    for axis, size in (*program.sizes, *program.made):
        sizes = {n for term in top for name, n in term.shape if name == axis}
        if sizes == {size} and axis not in elsewhere and any(makes(term, axis) for term in top):
            result.append((axis, size))
    return tuple(result)


def axes_of(term: Term) -> set[str]:
    return {axis for axis, _ in term.shape} | ({term.data[0]} if term.form == "size" else set())


def makes(term: Term, axis: str) -> bool:
    """Whether a term is a literal of numbers along the axis, whose size says nothing else."""
    plain = all(part.form == "number" or makes(part, axis) for part in term.parts)
    return term.form == "literal" and axis in term.data[0] and plain


def lifted(d: Drawing, program: Program) -> Program:
    """At times declared inputs are given with an extra axis, over which the whole program is mapped."""
    able = [
        input_
        for input_ in program.inputs
        if input_.declared is not None
        and not input_.name.endswith("}")
        and input_.dtype not in ("bool", "int", "float")
    ]
    if not able or not d.chance(0.15) or count(program.out.sizes) > 12:
        return program
    chosen = set(d.random.sample([other.name for other in able], d.random.randint(1, min(2, len(able)))))
    inputs = []
    for input_ in program.inputs:
        if input_.name in chosen:
            entries = tuple(
                input_.entries[(n * 7 + k) % len(input_.entries)] for k in range(2) for n in range(len(input_.entries))
            )
            input_ = replace(input_, shape=(("batch", 2), *input_.shape), entries=entries)
        inputs.append(input_)
    return replace(program, inputs=tuple(inputs))


# ------------------------------------------------------------------------------------------------------------ coverage
def constructs(program: Program) -> Counter:
    """What a program is made of: forms, operators, dtypes, kinds of statements."""
    counter: Counter = Counter()
    for term in terms_of(program):
        counter[term.form] += 1
        if term.form in ("applied", "prefixed", "over", "infix", "relation", "logic", "property", "made", "sum over"):
            counter[str(term.data[0])] += 1
        if term.form == "derivative" and any(node.form == "derivative" for part in term.parts for node in part.walk()):
            counter["second derivative"] += 1
    for input_ in program.inputs:
        counter[input_.dtype] += 1
        counter["lifted input"] += input_.shape[:1] == (("batch", 2),)
    for statement in program.statements:
        counter[type(statement).__name__] += 1
        if isinstance(statement, Definition) and statement.claim is not None:
            counter["claim"] += 1
        if isinstance(statement, Family):
            counter["long family"] += len(statement.span()) > 60
        if isinstance(statement, Function):
            counter["function over axes"] += bool(statement.over)
            counter["function without signature"] += statement.gives is None
            counter["family in a function"] += any(isinstance(fact, Family) for fact in statement.facts)
            counter["definition in a function"] += any(isinstance(fact, Definition) for fact in statement.facts)
    counter["size of what is made"] += bool(program.made)
    counter["family of parameters"] += bool(program.families)
    counter["lifted call"] += any(
        term.form == "call" and any(part.shape != local for part, local in zip(term.parts, owned(program, term)))
        for term in terms_of(program)
    )
    return +counter


def owned(program: Program, call: Term) -> list:
    return [
        shape
        for statement in program.statements
        if isinstance(statement, Function) and statement.name == call.data[0] and not statement.over
        for _, shape in statement.parameters
    ]
