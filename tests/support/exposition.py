"""Reading what ``/metrics`` exposes, with the parser of Prometheus's own client."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Each sample by its name and labels. Fails on two of the same."""
    found: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found, key
            found[key] = sample.value
    return found


def sample(text: str, name: str, /, **labels: str) -> float | None:
    """The value of one sample; ``None`` where there is none of this name with these labels."""
    return samples(text).get((name, frozenset(labels.items())))
