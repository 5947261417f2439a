"""YAML as policies use it: plain values, every key once, and no text that grows when it is read.

A few lines of YAML can stand for billions of values, by anchors that hold each other, or be nested
deeper than Python can follow. Both are noticed while the text is read, before anything is built.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from sparkanon.errors import PolicyError, is_text, short

# Taxonomies are long, but a text at these limits is still read or refused within a second.
LONGEST = 400_000  # characters
DEEPEST = 128  # mappings and lists inside each other; taxonomies may have 100
MOST = 30_000  # keys, values, mappings and lists, with those that an alias repeats


class TooLargeError(PolicyError):
    """The text is larger than any policy that is written by hand."""


def read_yaml(text: str) -> Any:
    """The plain values of a text.

    Raises
    ------
    TooLargeError : it is too long, too deep, too large once its aliases are filled in, or endless
    yaml.YAMLError : it is not valid
    """
    if len(text) > LONGEST:
        raise TooLargeError(f"YAML of more than {LONGEST:,} characters is not read")
    return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 (a SafeLoader)


# Which plain words are not text. YAML 1.1 has more of them: it would read the category `no` as
# false and the code 01234 as an octal number.
_NO_TEXT = {
    "bool": ("tTfF", r"true|True|TRUE|false|False|FALSE"),
    "int": ("-+0123456789", r"[-+]?(?:0|[1-9][0-9_]*)"),
    "float": (
        "-+.0123456789",
        r"[-+]?(?:(?:0|[1-9][0-9_]*)\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    ),
}


class _StrictLoader(yaml.SafeLoader):
    """SafeLoader that refuses duplicate keys and leaves `on`, `off`, `yes`, `no` to be text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._deepest = 0  # that was reached since the innermost open node began
        self._nodes = 0
        self._anchored: dict[str, tuple[int, int]] = {}  # nodes and levels of what is complete

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """As the parent class does, within the limits."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        nodes, levels = 1, 1
        alias = isinstance(event, yaml.AliasEvent)
        if alias and event.anchor in self.anchors:
            if event.anchor not in self._anchored:
                raise TooLargeError(
                    f"the YAML anchor '{short(event.anchor)}' stands inside itself"
                )
            nodes, levels = self._anchored[event.anchor]
        before, outer = self._nodes, self._deepest
        self._nodes += nodes
        self._deepest = self._depth + levels
        if self._deepest > DEEPEST:
            raise TooLargeError(f"YAML with more than {DEEPEST} levels is not read")
        if self._nodes > MOST:
            raise TooLargeError(
                f"YAML with more than {MOST:,} keys and values, those of its aliases included, "
                "is not read"
            )
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if not alias and event.anchor is not None:
            self._anchored[event.anchor] = self._nodes - before, self._deepest - self._depth
        self._deepest = max(self._deepest, outer)
        return node

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        value = super().construct_scalar(node)
        if not is_text(value):
            raise yaml.constructor.ConstructorError(
                None, None, "holds half a character, which is no text", node.start_mark
            )
        return value

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # PyYAML raises plain errors for `2024-13-45`, `!!int x` or a number of 5,000 digits.
            raise yaml.constructor.ConstructorError(
                None, None, "looks like a number or a date, but is not one", node.start_mark
            ) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str | int | float | bool):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be plain text", key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"'{short(str(key))}' stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in forms if tag.rpartition(":")[2] not in _NO_TEXT]
    for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _kind, (_starts, _form) in _NO_TEXT.items():
    _StrictLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(rf"^(?:{_form})$"), list(_starts)
    )
