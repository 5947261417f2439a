"""sparkanon."""
