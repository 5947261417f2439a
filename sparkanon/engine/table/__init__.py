"""READ: tables as they come in, their columns and types, and tables to try things with."""
