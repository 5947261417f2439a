"""The Spark session and its Python workers."""
