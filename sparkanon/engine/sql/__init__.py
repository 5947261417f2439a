"""Names, row keys and hidden values: what the SQL of every other room is made of."""
