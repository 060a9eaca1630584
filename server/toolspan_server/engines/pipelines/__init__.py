"""Pipelines: tools made of calls of other tools. The kind is ``kinds/pipeline.py``."""
