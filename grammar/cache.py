"""Thread-safe caches, each with a name and a size limit.

A value is built outside the lock and is stored when it is complete. Another thread therefore never sees a partial
value, and an interrupt during the build leaves the cache unchanged. The lock is held only for a few look-ups.

For pure functions, `functools.lru_cache` gives the same guarantees. `functools.cached_property` does not. On Python
3.11, all objects of a class share one lock, and a forked child may inherit that lock in its locked state. The
`cached_property` in this module uses no lock.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar, overload
from weakref import WeakSet

from .locks import call_with_lock

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_CACHES: WeakSet[Cache[Any, Any]] = WeakSet()


def caches() -> list[Cache[Any, Any]]:
    """Return all live caches, sorted by name, for tests and for diagnosing memory use."""
    return sorted(call_with_lock(lambda: [*_CACHES]), key=lambda cache_: cache_.name)


class Cache(Generic[Key, Value]):
    """A cache with at most `limit` keys.

    If `weigh` is given, it returns the size of a value in bytes, and the cache holds about `byte_limit` bytes at most.

    The cache drops its oldest entries first. It always keeps the newest entry, whatever its size. A value must not be
    None. If several keys share a value, its size counts once.

    >>> squares: Cache[int, int] = Cache("squares", 2)
    >>> [squares.get_or_build(n, lambda: n * n) for n in (2, 3, 4)], squares.get(2), len(squares)
    ([4, 9, 16], None, 2)
    """

    __slots__ = ("__weakref__", "_entries", "_weigh", "_weights", "byte_limit", "bytes", "get", "limit", "name")

    def __init__(
        self, name: str, limit: int, weigh: Callable[[Value], int] | None = None, byte_limit: int | None = None
    ):
        self.name, self.limit, self.byte_limit = name, limit, byte_limit
        self.bytes = 0  # The total size of the values if `weigh` is given.
        self._weigh = weigh
        self._entries: dict[Key, Value] = {}
        self._weights: dict[int, list[int]] = {}  # Maps the id of each value to its size and its number of keys.
        # The dictionary's own method is fast, and it leaves the age of the entry unchanged.
        self.get = self._entries.get
        call_with_lock(_CACHES.add, self)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[Key]:
        """Yield the current keys from oldest to newest."""
        return iter(call_with_lock(lambda: [*self._entries]))

    def __getitem__(self, key: Key) -> Value:
        return self._entries[key]

    def values(self) -> list[Value]:
        """Return the values, from oldest to newest."""
        return call_with_lock(lambda: [*self._entries.values()])

    def get_or_build(self, key: Key, build: Callable[[], Value]) -> Value:
        """Return the value for a key. If the key is missing, call `build`, and store and return its result.

        If several threads build the value at the same time, all receive the first result.
        """
        value = self.get(key)
        return self._publish_entry(key, build(), replace=False) if value is None else value

    def store(self, key: Key, value: Value) -> Value:
        """Store a value under a key and return it.

        The value replaces any previous value and becomes the newest entry.
        """
        return self._publish_entry(key, value, replace=True)

    def __reduce__(self) -> Any:  # A copy starts empty.
        return Cache, (self.name, self.limit, self._weigh, self.byte_limit)

    def clear(self) -> None:
        """Remove all entries."""
        call_with_lock(self._clear)

    def _publish_entry(self, key: Key, value: Value, replace: bool) -> Value:
        dropped: list[Value] = []  # Values are freed after the lock is released.
        return call_with_lock(self._publish, key, value, replace, dropped)

    def _publish(self, key: Key, value: Value, replace: bool, dropped: list[Value]) -> Value:
        entries = self._entries
        if not replace and key in entries:
            return entries[key]
        try:
            if key in entries:
                dropped.append(self._forget_entry(key))
            if self._weigh is not None:
                self._count(value, self._weigh)
            entries[key] = value
            while len(entries) > self.limit or self._is_too_heavy(value):
                dropped.append(self._forget_entry(next(iter(entries))))
        except BaseException:  # An interrupt between two statements may leave a wrong byte count.
            self._clear()
            raise
        return value

    def _count(self, value: Value, weigh: Callable[[Value], int]) -> None:
        if id(value) not in self._weights:
            self._weights[id(value)] = [weigh(value), 0]
            self.bytes += self._weights[id(value)][0]
        self._weights[id(value)][1] += 1

    def _is_too_heavy(self, last: Value) -> bool:
        return self.byte_limit is not None and self.bytes > self.byte_limit and self._weights.keys() != {id(last)}

    def _forget_entry(self, key: Key) -> Value:
        value = self._entries.pop(key)
        if self._weigh is not None:
            weight_and_keys = self._weights[id(value)]
            weight_and_keys[1] -= 1
            if not weight_and_keys[1]:
                del self._weights[id(value)]
                self.bytes -= weight_and_keys[0]
        return value

    def _clear(self) -> None:
        self._entries.clear()
        self._weights.clear()
        self.bytes = 0


Owner = TypeVar("Owner")


class cached_property(Generic[Owner, Value]):
    """A property that is computed on first access and stored on the object, without a lock.

    If two threads compute the property at the same time, both receive the result that was stored first.
    """

    def __init__(self, build: Callable[[Owner], Value]):
        self.build = build
        self.name = build.__name__
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[Owner, Value]: ...
    @overload
    def __get__(self, instance: Owner, owner: type) -> Value: ...
    def __get__(self, instance: Owner | None, owner: type) -> cached_property[Owner, Value] | Value:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self.name, self.build(instance))
