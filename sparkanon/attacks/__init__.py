"""6 WHAT CAN LEAK: one spec an adversary, one line here."""

from sparkanon.attacks.base import Attack
from sparkanon.attacks.nearest_record import NearestRecord
from sparkanon.registry import Registry

ATTACKS: Registry[Attack] = Registry("attack", (NearestRecord,))

__all__ = ["ATTACKS", "Attack"]
