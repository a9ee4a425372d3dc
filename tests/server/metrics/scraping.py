"""Reads the text of /metrics back with the parser of prometheus-client."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parse(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


class Scraped:
    """The samples of one scrape, by name and some of their labels."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._samples = parse(text)

    def total(self, name: str, **labels: str) -> float:
        """The sum of the samples with these labels; 0 if there is none."""
        wanted = {*labels.items()}
        return sum(value for (found, has), value in self._samples.items() if found == name and wanted <= has)

    def values(self, name: str, label: str) -> set[str]:
        """The values that a label has."""
        return {dict(has)[label] for found, has in self._samples if found == name}
