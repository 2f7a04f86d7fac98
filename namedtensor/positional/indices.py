"""Index notation, in which some letters are indices. Letters that are repeated in a product are summed.

Within its scope, which is the whole formula or the body of a ∑, a letter represents one axis. The letters of the
left-hand side are free. A letter that occurs twice in a product and is not free is summed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from grammar.errors import Span

from .refusals import make_refusal
from .source_tree import COUNTING, OPEN, Statement, SumEnd, Tree, end_of, item_of

INDEX = re.compile(r"[a-zα-ω]")
LABELS = set("new old out max min ref obs pred true test val init prev next".split())  # words, not indices
NEVER = set("de")  # letters that are no single index, unless a ∑ binds them or the left-hand side has them
FROM_END = re.compile(r"([^\W\d_]\w*)((?:[+-]\d+)?-[a-zα-ω](?:[+-]\d+)?)")


def spell(tree: Tree) -> str:
    """Return a name with its scripts as one word, such as W_Q or W^{(1)}, or '' if the tree is not a name."""
    if tree.op == "name":
        return tree.text
    if tree.op in ("sub", "^") and (base := spell(tree.parts[0])):
        sign = "_" if tree.op == "sub" else "^"
        script = tree.text.strip("{}").replace(" ", "")
        return f"{base}{sign}{script}" if len(script) == 1 else f"{base}{sign}{{{script}}}"
    return ""


def canonical(name: str) -> str:
    """Return a given name in the form that `spell` returns."""
    return re.sub(
        r"([_^])\{?((?<=\{)[^{}\s]+(?=\})|\w+|[^{}\s]+)\}?",
        lambda m: f"{m[1]}{m[2]}" if len(m[2]) == 1 else f"{m[1]}{{{m[2]}}}",
        name.replace(" ", ""),
    )


def extend_end(tree: Tree, op: str, right: Tree) -> Tree | None:
    """Extend the operand f of the last ∇_x f or ∑_i f in a tree by `right`, and return the new tree.

    Return None if the tree does not end in such an operand, or if `right` does not contain this x or index i.
    """
    if tree.op == "either":
        return extend_end(tree.parts[1], op, right)
    if tree.op == "gradient" and tree.text == OPEN:
        body, by = tree.parts
        if not {spell(part) for part in right.all()} & {spell(part) for part in by.all()} - {""}:
            return None
        span = body.span[0], right.span[1]
        return replace(tree, span=(tree.span[0], span[1]), parts=(Tree(op, span, (body, right)), by))
    if tree.op == "big" and tree.text == "∑" and {*tree.letters} & entries_in(right):
        span = tree.parts[0].span[0], right.span[1]
        return replace(tree, span=(tree.span[0], span[1]), parts=(Tree(op, span, (tree.parts[0], right)),))
    if tree.op in ("product", "negative", "+", "-"):
        last = extend_end(tree.parts[-1], op, right)
        return None if last is None else replace(tree, parts=(*tree.parts[:-1], last))
    return None


def items_of(script: str) -> tuple[str, ...]:
    """Return the indices in the text of a subscript such as ij, i,j or i+1,j."""
    if "," in script:
        return tuple(item for item in script.split(",") if item)
    if script in LABELS or (len(script) > 4 and script.isalpha()):
        return (script,)
    return tuple(script) if script.isalnum() else (script,)


def is_letter(item: str) -> bool:
    return len(item) == 1 and INDEX.fullmatch(item) is not None


def letters_of_item(item: str) -> tuple[str, ...]:
    """Return the letters of an index, such as t and k for t-k+1."""
    read = item_of(item)
    return read.letters if read else ()


Pair = tuple[str, tuple[str, ...]]
Sum = tuple[Span, tuple[str, ...]]


def split_indices(tree: Tree) -> Pair | None:
    """Return the name and the indices in a tree such as x_i, A_{ij} or A^i_j, or None for any other tree."""
    items: tuple[str, ...] = ()
    while tree.op in ("sub", "^") and tree.parts:
        if tree.op == "^" and not (len(tree.text.strip("{}")) == 1 and is_letter(tree.text.strip("{}"))):
            return None
        items = (*items_of(tree.text.strip("{}")), *items)
        tree = tree.parts[0]
    return (tree.text, items) if tree.op == "name" and items else None


def is_element(pair: Pair) -> bool:
    """Return whether all indices of a name are numbers, as in A_{1,2}, so it denotes a single element."""
    return all(item.isdigit() for item in pair[1])


@dataclass
class IndexLetters:
    """The index letters of a statement. `active` is true if the statement is in index notation.

    `free` contains the letters of the left-hand side. Without a left-hand side, it is None. `counts` contains the
    number of indices of each name. `binds` contains the letters that each ∑ binds.
    """

    source: str
    free: tuple[str, ...] | None
    counts: dict[str, int] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()  # letters that occur below any ∑
    outer: frozenset[str] = frozenset()  # letters at which a ∑ ends, if no left-hand side has them; the value has them
    active: bool = False
    binds: dict[Sum, tuple[str, ...]] = field(default_factory=dict)

    def bound_by(self, tree: Tree) -> tuple[str, ...]:
        """Return the letters that a ∑ binds, such as i and j in ∑_{i<j}, except letters bound or free outside of it."""
        return self.binds.get((tree.span, tree.letters), tree.letters)

    def index_of(self, tree: Tree, names: Mapping[str, object]) -> tuple[str, tuple[str, ...]] | None:
        """Return the name and the indices of a tree if it is an indexed tensor, and None otherwise.

        A name with a label, such as W_q, is not indexed.
        """
        if canonical(spell(tree)) in names:
            return None
        pair = split_indices(tree)
        if (
            pair is None
            or not (self.active or is_element(pair))
            or pair[0] not in self.counts
            or tree.op == "^"
            and tree.parts[0].op != "sub"
        ):
            return None
        return pair


def letters_of(
    statement: Statement, names: Mapping[str, int], source: str, outer: frozenset[str] = frozenset()
) -> IndexLetters:
    """Return the letters of a statement. `names` maps each given name to the number of its axes."""
    result = IndexLetters(source, None, outer=outer)
    trees = list(statement.body.all())
    result.bound = frozenset(letter for tree in trees if tree.op == "big" for letter in find_letters_below(tree))
    head = statement.head
    known = canonical(spell(head)) in names if head else False
    pair = None if head is None or known else head_letters(head)
    if pair and all(map(is_letter, pair)) and (len(pair) < 2 or {*pair} & letters_below(statement.body)):
        result.free = pair
    elif head is not None:
        result.free = ()
    evidence = bool(result.bound or result.free)
    inner = {id(tree.parts[0]) for tree in trees if tree.op in ("sub", "^") and split_indices(tree)}  # A_i of A_i^j
    evidence = evidence or any(
        tree.op == "sub" and tree.parts[0].op == "group" and all(map(is_letter, items_of(tree.text))) for tree in trees
    )
    for tree in trees:
        pair = None if id(tree) in inner or canonical(spell(tree)) in names else split_indices(tree)
        if pair is None or (tree.op == "^" and tree.parts[0].op != "sub"):
            continue
        name, items = pair
        position = names.get(name)
        if not are_indices(result, name, items, position):
            continue
        evidence = evidence or not is_element(pair) and (len(items) >= 2 or position is not None)
        count = result.counts.setdefault(name, len(items))
        if count != len(items) and position is None:
            message = f"{name} has {len(items)} indices here, and {count} elsewhere"
            raise make_refusal(source, tree.span, message, f"give the axes of {name}")
    result.active = evidence
    if not evidence:
        result.free = None
    bind(statement.body, {*(result.free or ()), *outer}, result)
    return result


def ends_at_letters(tree: Tree, names: Collection[str], known: frozenset[str] = frozenset()) -> frozenset[str]:
    r"""Return the unbound letters i, j, s or t at which a sum ends, such as i in \sum_{j=1}^{i} or \sum_{j=1}^{i-1}."""
    letters: set[str] = set()
    if tree.op == "big":
        known = known | {*find_letters_below(tree)}
        end = item_of(tree.upper)
        plain = end is not None and len(end.plus) == 1 and not end.minus and end.offset in (0, -1)
        letters |= {*end.plus} & COUNTING - known - {*names} if end is not None and plain else set()
    return frozenset(letters).union(*(ends_at_letters(part, names, known) for part in tree.parts))


def with_ends(tree: Tree, known: set[str]) -> Tree:
    """Return the tree in which conditions replace limits such as i - 1, and each partial sum has one letter.

    The sum ∑_{j=1}^{i-1} gets the condition j < i, and ∑_{j≠i}^{3} gets j ≤ 3. ∑_{i,j=1}^{3} is written as two sums.
    `known` contains the letters that have an axis outside of the tree.
    """
    if tree.op == "big" and tree.conditions and tree.upper.isdigit():
        bound = [letter for letter in find_letters_below(tree) if letter not in known]
        ends = tuple((letter, "≤", tree.upper) for letter in bound)
        tree = replace(tree, upper="", conditions=(*tree.conditions, *ends))
    if tree.op == "big" and len(tree.letters) > 1 and not tree.conditions and is_partial(tree):
        inner = replace(tree, letters=tree.letters[1:])
        tree = replace(tree, letters=tree.letters[:1], parts=(inner,))
    names = known | ({*find_letters_below(tree)} if tree.op == "big" else set())
    parts = tuple(with_ends(part, names) for part in tree.parts)
    end = item_of(tree.upper) if tree.op == "big" and len(tree.letters) == 1 else None
    if end is None or len(end.plus) != 1 or end.minus or end.plus[0] not in known or end.offset not in (0, -1):
        return with_start(replace(tree, parts=parts)) if parts != tree.parts or tree.op == "big" else tree
    conditions = [(letter, "<" if end.offset else "≤", end.plus[0]) for letter in tree.letters]
    return with_start(replace(tree, parts=parts, upper="", conditions=(*tree.conditions, *conditions)))


def with_start(tree: Tree) -> Tree:
    """Return a sum in which a start of 2 or more becomes a condition, if the sum already has conditions."""
    if not tree.conditions or tree.lower in ("", "0", "1"):
        return tree
    starts = ((tree.lower, "≤", letter) for letter in tree.letters)
    return replace(tree, lower="", conditions=(*tree.conditions, *starts))


def is_partial(tree: Tree) -> bool:
    """Return whether the limits of a sum can exclude part of the axis, as in a sum from 2 or to n - 1."""
    end = end_of(tree.upper)
    return tree.lower not in ("", "1") or end is not None and (not end.name or end != SumEnd(end.name))


def from_ends(tree: Tree, lengths: Collection[str]) -> Tree:
    """Return a tree in which lengths, such as the ends of sums, are marked so that they are not read as indices.

    x_{n-i+1} becomes x_{|n|-i+1}, and the sum over j ≤ n ends at n.
    """
    if tree.op == "big" and not tree.upper and tree.conditions:
        *others, (_, relation, last) = tree.conditions
        if last in lengths and (relation == "≤" or relation == "<" and not others):
            upper = last + ("-1" if relation == "<" else "")
            tree = replace(tree, upper=upper, conditions=tuple(others))
    end = end_of(tree.upper) if tree.op == "big" else None
    if end is not None and end.name and end.name not in COUNTING:
        lengths = {*lengths, end.name}
    parts = tuple(from_ends(part, lengths) for part in tree.parts)
    text = tree.text
    if tree.op == "sub" and "-" in text:
        items = ((item, FROM_END.fullmatch(item)) for item in items_of(text.strip("{}")))
        text = ",".join(f"|{match[1]}|{match[2]}" if match and match[1] in lengths else item for item, match in items)
    return replace(tree, parts=parts, text=text)


def with_numbers(tree: Tree, names: Mapping[str, int]) -> Tree:
    """Return the tree with the 10 of x_{10} as one index if x has one axis, so that it is not read as x_{1,0}."""
    parts = tuple(with_numbers(part, names) for part in tree.parts)
    script = tree.text.strip("{}")
    is_number = tree.op == "sub" and len(script) > 1 and script.isdigit() and names.get(spell(tree.parts[0])) == 1
    text = f"{script}," if is_number and canonical(spell(tree)) not in names else tree.text
    return replace(tree, parts=parts, text=text)


def with_axes(tree: Tree, given: Collection[str]) -> Tree:
    r"""Return the tree with each \sum_{\text{seq}} over the name of a given axis replaced by a sum over this axis."""
    parts = tuple(with_axes(part, given) for part in tree.parts)
    word = "".join(tree.letters)
    bare = tree.op == "big" and not (tree.upper or tree.lower or tree.conditions)
    if bare and len(word) > 1 and word in given and not {*word} & letters_below(tree.parts[0]):
        return Tree("over", tree.span, parts, tree.text, upper=word)
    return replace(tree, parts=parts) if parts != tree.parts else tree


def find_letters_below(tree: Tree) -> tuple[str, ...]:
    """Return the letters written below a ∑, including the letters in its conditions."""
    sides = (side for left, _, right in tree.conditions for side in (left, right))
    return tuple(dict.fromkeys((*tree.letters, *(side for side in sides if is_letter(side)))))


def bind(tree: Tree, known: set[str], letters: IndexLetters, beside: frozenset[str] = frozenset()) -> None:
    """Record for each ∑ in the tree which letters it binds.

    `known` contains the letters of the left-hand side and of the outer sums. Without a left-hand side, `beside`
    contains the letters in the subscripts of neighboring parts, such as other factors.
    """
    if tree.op == "big":
        bound = tuple(
            letter for letter in find_letters_below(tree) if letter in tree.letters or letter not in known | beside
        )
        letters.binds[tree.span, tree.letters] = bound
        known = known | {*bound}
    for number, part in enumerate(tree.parts):
        siblings = () if tree.op == "either" else (*tree.parts[:number], *tree.parts[number + 1 :])
        others = (entry for other in siblings for entry in entries_in(other))
        bind(part, known, letters, beside | {*others} if letters.free is None else beside)


def letters_below(tree: Tree) -> set[str]:
    """Return all letters in the subscripts and superscripts of a tree and below its sums."""
    listed = {letter for part in tree.parts for letter in letters_below(part)} | {*find_letters_below(tree)}
    return listed | ({*tree.text} if tree.op in ("sub", "^") else set())


def entries_in(tree: Tree) -> set[str]:
    """Return the letters of all subscripts in a tree, except letters that a ∑ in the tree binds."""
    inside = {letter for part in tree.parts for letter in entries_in(part)}
    pair = split_indices(tree)
    inside |= {letter for item in (pair[1] if pair else ()) for letter in letters_of_item(item)}
    return inside - {*tree.letters}


def is_index_in(tree: Tree, letter: str) -> bool:
    """Return whether a tree has a letter alone as an index, so that the indexed axis determines the letter's range.

    For example, i is an index in x_i, but not in x_{i+1}.
    """
    return any(pair is not None and letter in pair[1] for pair in map(split_indices, tree.all()))


def are_indices(letters: IndexLetters, name: str, items: tuple[str, ...], given: int | None) -> bool:
    """Return whether the subscripts of a name are indices, that is, letters or numbers, at most one per axis.

    In contrast, d_k and n_t are sizes.
    """
    if not all(map(item_of, items)) or name == "𝟏":
        return False
    if not any(map(letters_of_item, items)):  # x_1 of a given x is its first element
        return given == len(items)
    known = letters.bound | {*(letters.free or ())}
    used = {letter for item in items for letter in letters_of_item(item)}
    if any(len(item) > 1 and letters_of_item(item) for item in items) and not known & used:
        return False  # h_{t-1} is a name
    if given is not None:
        return given >= len(items)
    return len(items) > 1 or bool(known & used) or not (NEVER & used or name in "dnNT")


def head_letters(head: Tree) -> tuple[str, ...]:
    """Return the indices on a left-hand side such as y_i, P_{ij} or softmax(z)_i."""
    pair = split_indices(head)
    if pair:
        return pair[1]
    return items_of(head.text) if head.op == "sub" else ()


def letters_in(tree: Tree, letters: IndexLetters, names: Mapping[str, object]) -> dict[str, int]:
    """Return the number of occurrences of each letter in a factor. Letters that the factor itself sums are left out."""
    if pair := letters.index_of(tree, names):
        listed = [letter for item in pair[1] for letter in letters_of_item(item)]
        return {letter: listed.count(letter) for letter in listed}
    if tree.op == "big":
        inner = dict.fromkeys((*letters_in(tree.parts[0], letters, names), *find_letters_below(tree)), 1)
        return {letter: 1 for letter in inner if letter not in letters.bound_by(tree)}
    if (
        letters.active
        and tree.op == "name"
        and is_letter(tree.text)
        and tree.text not in names
        and tree.text in letters.bound
    ):
        return {tree.text: 1}
    if tree.op in PRODUCTS:
        return dict.fromkeys(left_by_product(factors_of(tree), letters, names), 1)
    result: dict[str, int] = {}
    for part in tree.parts:
        for letter in letters_in(part, letters, names):
            result[letter] = 1
    if tree.op == "sub" and tree.parts[0].op != "name":  # softmax(…)_i
        result |= {item: 1 for item in items_of(tree.text) if is_letter(item)}
    return result


PRODUCTS = ("product", "·", "∘", "*", "after /")


def factors_of(tree: Tree) -> list[Tree]:
    """Return the factors of a product from left to right. A quotient or a group is a single factor."""
    if tree.op in PRODUCTS:
        return [factor for part in tree.parts for factor in factors_of(part)]
    return [tree]


def occurrences(factors: list[Tree], letters: IndexLetters, names: Mapping[str, object]) -> dict[str, int]:
    """Return the number of occurrences of each letter in the factors of a product, as counted by `letters_in`."""
    counts: dict[str, int] = {}
    for factor in factors:
        for letter, times in letters_in(factor, letters, names).items():
            counts[letter] = counts.get(letter, 0) + times
    return counts


def left_by_product(factors: list[Tree], letters: IndexLetters, names: Mapping[str, object]) -> set[str]:
    counts = occurrences(factors, letters, names)
    return {*counts} - find_summed_letters(counts, letters)


def find_summed_letters(counts: Mapping[str, int], letters: IndexLetters) -> set[str]:
    """Return the letters that occur at least twice in a product and are neither free nor in `letters.outer`.

    The product sums these letters, unless an outer ∑ binds them.
    """
    unsummed = {*(letters.free or ()), *letters.outer}
    return {letter for letter, count in counts.items() if count > 1 and letter not in unsummed}
