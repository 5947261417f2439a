"""What did it cost, what can still leak: any pair (original, release), whoever made it."""

from sparkanon.engine.audit.run import Audit, audit

__all__ = ["Audit", "audit"]
