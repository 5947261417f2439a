"""Which released record is whose: exact search over blocks."""
