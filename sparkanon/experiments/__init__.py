"""The papers' experiments, each as one command. One file a paper."""
