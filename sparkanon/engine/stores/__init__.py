"""Where files go: folders that are replaced whole, private places, leases of runs."""
