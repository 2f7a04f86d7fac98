"""Hooks: callbacks for the import of a library or the first use of a class, and functions from higher layers.

With hooks, lower layers do not need to import higher layers. For example, hooks register named tensors with JAX when
JAX is imported, and add methods to the class NamedTensor when it is first imported.
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
    """Register a callback for the first time that `seen` is called with this name, or run it now if it has been.

    >>> when_first_seen("an example", lambda: print("here it is"))
    >>> seen("an example")
    here it is
    """
    _CALLBACKS.setdefault(name, []).append(run)
    if name in _SEEN:
        run()


def seen(name: str) -> None:
    """Run the callbacks that are registered for this name.

    Each call runs all callbacks, because an earlier run may have been interrupted. Thus, if two threads see a name at
    the same time, neither continues before all callbacks have run. A callback must do nothing when it runs again.
    """
    _SEEN.add(name)
    for run in [*_CALLBACKS.get(name, ())]:
        run()


class ImportWatcher:
    """A module finder that does not find modules itself but runs the callbacks of a library after its import.

    Libraries such as JAX require that a class of trees is registered before its first use.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()

    def watch(self, name: str) -> None:
        """Call `seen` with a module's name as soon as the module is imported, or now if it already has been."""
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
            with suppress(Exception):  # errors are reported when tensors are used, not at import
                seen(name)

        with suppress(AttributeError):  # the loader may not accept attributes
            spec.loader.exec_module = exec_module  # type: ignore[method-assign, union-attr]
        return spec


WATCHER = ImportWatcher()


class Injected(Generic[Parameters, Result]):
    """A function of a higher layer, which the layer's `load` imports when the function is called.

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
)  # returns the tensor for an xarray, pandas or polars table, or None for any other value
