"""Where files go: folders that are replaced as a whole, private places, leases of runs."""
