"""The table of operators, generated from their records."""

from __future__ import annotations

HEADINGS = ("text", "ASCII", "LaTeX", "signature", "meaning", "NumPy")


def records(section: str | None = None):
    """Return each record once, in the order of registration."""
    import namedtensor  # noqa: F401  (registers them)
    from namedtensor.operators.record import REGISTRY

    fromkeys = dict.fromkeys(REGISTRY.values())
    return [record for record in fromkeys if section is None or record.section == section]


def rows(section: str | None = None) -> list[tuple[str, ...]]:
    operators = records(section)
    if not operators:
        raise ValueError(f"no operator has the section {section!r}; there are {sorted({r.section for r in records()})}")
    return [cells(record) for record in operators]


def cells(record) -> tuple[str, ...]:
    from namedtensor.operators.usage import sets

    names = ", ".join(code(name) for name in (record.name, *record.aliases))
    return (
        names,
        code(record.ascii),
        code(record.latex),
        code(sets(record)),
        record.meaning,
        code(record.numpy),
    )


def code(text: str) -> str:
    return f"`{text}`" if text else ""


# ------------------------------------------------------------------------------------------------------ differentials
RULES = ("operator", "of X", "of Y", "of Z")


def differentials() -> list[tuple[str, ...]]:
    """Return rows with the differentials that records state for each argument, except those that are zero."""
    rows = []
    for record in records():
        texts = record.differentials
        if not any(text != "0" for text in texts):
            continue
        name = f"{record.name} _{{ax}}" if record.kind in ("reduction", "axis_map") else record.name
        if record.arity[0] < record.arity[1] == len(texts) - 1:  # over axes of one argument or of two
            rows.append((code(name.replace(" _", "_")), code(texts[0]), "", ""))
            name, texts = record.name, texts[1:]
        cells = [code(text) for text in texts]
        rows.append((code(name.replace(" _", "_")), *cells, *[""] * (3 - len(cells))))
    return rows
