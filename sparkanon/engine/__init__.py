"""The engine: the only place that knows Spark. `pipeline.py` is the flow, one line a step."""
