"""Hooks: callbacks that run at the import of a library or the first use of a class, and functions from higher layers.

Hooks let lower layers use higher layers without importing them. For example, hooks register named tensors with JAX when
JAX is imported, and add methods to NamedTensor when the class is first imported.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.machinery import ModuleSpec
from typing import Any, Generic, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_SEEN: set[str] = set()
_CALLBACKS: dict[str, list[Callable[[], object]]] = {}


def when_first_seen(name: str, run: Callable[[], object]) -> None:
    """Run a callback when `seen` is first called with this name, or now if it has already been called.

    >>> when_first_seen("an example", lambda: print("here it is"))
    >>> seen("an example")
    here it is
    """
    _CALLBACKS.setdefault(name, []).append(run)
    if name in _SEEN:
        run()


def seen(name: str) -> None:
    """Run the callbacks for this name.

    Every call runs all callbacks again, because an earlier run may have been interrupted. If two threads call this
    function at the same time, neither continues before all callbacks have run. A callback must therefore do nothing on
    later runs.
    """
    _SEEN.add(name)
    for run in [*_CALLBACKS.get(name, ())]:
        run()


class ImportWatcher:
    """A module finder that finds no modules, but runs a library's callbacks after its import.

    Libraries such as JAX require a registration of tree classes before their first use.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()

    def watch(self, name: str) -> None:
        """Call `seen` with a module's name as soon as the module is imported, or now if it is already imported."""
        if sys.modules.get(name) is not None:
            seen(name)
            return
        self.names.add(name)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.names:
            return None
        finders = (finder for finder in [*sys.meta_path] if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in finders)
        spec = next((spec for spec in specs if spec is not None), None)
        execute = getattr(spec and spec.loader, "exec_module", None)
        if spec is None or execute is None:
            return spec

        def exec_module(module: Any) -> None:
            execute(module)
            self.names.discard(name)
            with suppress(Exception):  # Errors appear when tensors are used, not at import.
                seen(name)

        with suppress(AttributeError):  # The loader may not accept attributes.
            spec.loader.exec_module = exec_module  # type: ignore[method-assign, union-attr]
        return spec


WATCHER = ImportWatcher()


class Injected(Generic[Parameters, Result]):
    """A function from a higher layer. The first call imports it through `load`.

    >>> length: Injected[[str], int] = Injected()
    >>> length.load = lambda: len
    >>> length("abc")
    3
    """

    load: Callable[[], Callable[Parameters, Result]]

    def __call__(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        function = self.load()
        return function(*arguments, **named)


from_table: Injected[[Any, Any], Any] = (
    Injected()
)  # Converts an xarray, pandas or polars table to a tensor, or returns None for any other value.
