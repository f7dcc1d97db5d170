"""Mixers: the modules of a network that take a cache, and so look along a sequence, such as attention.

Most of them run flat rows once what they ask for is stood in for (`plgd.engine.mlx.rows`). Those that do more with a
cache, such as recurrent layers and latent attention, are run row by row as a whole: what stands between them, experts
most of all, is still computed once for all rows.
"""

from __future__ import annotations

import inspect
from typing import Any

import mlx.core as mx
import mlx.nn as nn

from plgd.engine.mlx.rows import Layout, layout_of, of_row

__all__ = ("Mixers", "NotFlat")


class NotFlat(Exception):
    """A mixer cannot run flat rows.

    Attributes:
        kind: the name of its class.
        inner: the name of a class inside it that cannot even run row by row, so that all of it has to.
    """

    def __init__(self, kind: str, why: Exception, inner: str = "") -> None:
        super().__init__(str(why) if isinstance(why, NotFlat) else f"{kind}: {type(why).__name__}: {why}")
        self.kind = kind
        self.inner = inner


class Mixers:
    """The mixers of a network. They are taught to run row by row, and which kinds do so may be changed at any time.

    Args:
        network: mlx-lm's model.

    Attributes:
        by_rows: the kinds, by the names of their classes, that run row by row.
        innermost: the kinds that have no other inside them.
    """

    def __init__(self, network: nn.Module) -> None:
        self.by_rows: set[str] = set()
        found = [module for _, module in network.named_modules() if _takes_cache(module)]
        # A whole layer row by row would leave next to nothing that is computed once.
        layers = {type(layer) for layer in getattr(network, "layers", ())}
        found = [module for module in found if type(module) not in layers]
        self.innermost = {
            type(mixer).__name__
            for mixer in found
            if not any(inner is not mixer and _takes_cache(inner) for _, inner in mixer.named_modules())
        }
        taught: dict[type[nn.Module], type[nn.Module]] = {}
        for mixer in found:
            kind = type(mixer)
            if kind not in taught:
                taught[kind] = self._teach(kind)
            object.__setattr__(mixer, "__class__", taught[kind])

    def _teach(self, kind: type[nn.Module]) -> type[nn.Module]:
        """Make a subclass that runs rows one by one where it has to."""

        def call(mixer: nn.Module, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # as the class
            layout = layout_of([*args, *kwargs.values()])
            if layout is None:
                return kind.__call__(mixer, *args, **kwargs)
            try:
                if kind.__name__ in self.by_rows:
                    return _run_by_rows(kind, mixer, layout, args, kwargs)
                return kind.__call__(mixer, *args, **kwargs)
            except NotFlat as error:
                if error.kind not in self.by_rows:
                    raise
                raise NotFlat(kind.__name__, error, inner=error.kind) from error
            except Exception as error:
                raise NotFlat(kind.__name__, error) from error

        return type(kind.__name__, (kind,), {"__call__": call, "__module__": kind.__module__})


def _run_by_rows(
    kind: type[nn.Module],
    mixer: nn.Module,
    layout: Layout,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> mx.array:
    """Run each row of [1, T, D] with its own cache and mask, and put the results [1, T, D] behind one another."""
    _, first, *_ = inspect.signature(kind.__call__).parameters  # the tokens, by whatever name
    flat = args[0] if args else kwargs[first]
    rows: list[mx.array] = []
    for row, part in enumerate(layout.split(flat, 1)):
        given = [part if value is flat else of_row(value, row) for value in args]
        named = {name: part if value is flat else of_row(value, row) for name, value in kwargs.items()}
        rows.append(kind.__call__(mixer, *given, **named))
    if not all(isinstance(each, mx.array) for each in rows):
        raise TypeError(f"{kind.__name__} returns more than an array, which cannot be put together again")
    return layout.join(rows, 1)


def _takes_cache(module: nn.Module) -> bool:
    return "cache" in inspect.signature(type(module).__call__).parameters
