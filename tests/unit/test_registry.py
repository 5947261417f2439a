"""The registry: explicit, without duplicates, helpful about unknown names."""

from __future__ import annotations

from typing import ClassVar

import pytest
from pydantic import ValidationError

from sparkanon.errors import PolicyError
from sparkanon.registry import Registry, spec


@spec
class Fine:
    key: ClassVar[str] = "fine"
    title: ClassVar[str] = "a method"
    source: ClassVar[str] = "here"
    passes: int = 3


def test_build_config_and_describe_agree() -> None:
    registry: Registry[Fine] = Registry("grouping", (Fine,))
    assert registry.build("fine") == Fine(passes=3)
    built = registry.build({"name": "fine", "passes": 4})
    assert registry.config(built) == {"name": "fine", "passes": 4}
    assert registry.describe()[0]["parameters"]["passes"]["default"] == 3


def test_duplicates_unknown_names_and_wrong_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="registered twice"):
        Registry("grouping", (Fine, Fine))
    registry: Registry[Fine] = Registry("grouping", (Fine,))
    with pytest.raises(PolicyError, match="unknown grouping 'fin'; did you mean fine"):
        registry.build("fin")
    for wrong in ({"passes": "4"}, {"speed": 1}):
        with pytest.raises(ValidationError):
            registry.build({"name": "fine"} | wrong)
    with pytest.raises(Exception, match=r"frozen|assign"):
        registry.build("fine").passes = 5  # type: ignore[misc]
