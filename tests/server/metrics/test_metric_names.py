"""Every metric is documented, and every name in the docs, the dashboard and the alerts is a metric."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gribmill.server.metrics.families import MetricFamilies

ROOT = Path(__file__).parents[3]
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
NAME = re.compile(r"\bgribmill_[a-z_]+\b")
LABELS = re.compile(r"by \(([a-z, ]+)\)|([a-z_]+)(?:=~|!=|=)\"")
# Added by Prometheus itself and its histograms.
COMMON = {"job", "instance", "le"}


def known() -> dict[str, set[str]]:
    """Name of each series to its labels."""
    families = MetricFamilies().registry.collect()
    labels = {one._name: {*one._labelnames} for one in vars(MetricFamilies()).values() if hasattr(one, "_labelnames")}
    return {family.name + end: labels[family.name] for family in families for end in SUFFIXES[family.type]}


def documented() -> dict[str, tuple[str, str]]:
    """Name of each metric in the tables of the docs to its type and labels."""
    rows = re.findall(r"^\| `(gribmill_\w+)` \| (\w+) \| (.*?) \|", (ROOT / "docs" / "metrics.md").read_text(), re.M)
    return {name: (kind, labels) for name, kind, labels in rows}


def expressions() -> list[str]:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: the alert rules are not read")
    alerts = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text())
    rules = [rule["expr"] for group in alerts["groups"] for rule in group["rules"]]
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "gribmill.json").read_text())
    return [*rules, *(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])]


def test_the_docs_list_each_metric_with_its_type_and_labels() -> None:
    actual = {
        family.name + ("_total" if family.type == "counter" else ""): (
            family.type,
            ", ".join(f"`{label}`" for label in one._labelnames),
        )
        for one in vars(MetricFamilies()).values()
        if hasattr(one, "_labelnames")
        for family in one.describe()
    }
    assert documented() == actual


def test_the_dashboard_and_the_alerts_name_only_metrics_that_exist() -> None:
    used = {name for expression in expressions() for name in NAME.findall(expression)}
    assert used <= known().keys()


def test_the_dashboard_shows_every_metric() -> None:
    used = {name for expression in expressions() for name in NAME.findall(expression)}
    missing = [name for name in documented() if not any(one.startswith(name) for one in used)]
    assert missing == []


def test_expressions_use_only_labels_that_their_metrics_have() -> None:
    for expression in expressions():
        has = set().union(*(known()[name] for name in NAME.findall(expression)), COMMON)
        for listed, compared in LABELS.findall(expression):
            assert {one.strip() for one in (listed or compared).split(",")} <= has, expression


def test_expressions_are_valid_promql() -> None:
    promql = pytest.importorskip("promql_parser", reason="promql-parser is not installed: PromQL is not parsed")
    for expression in expressions():
        promql.parse(expression.replace("$__rate_interval", "5m"))
    with pytest.raises(ValueError, match=r"\w"):
        promql.parse("max by (type (x)")


def test_alerts_have_a_severity_and_a_summary() -> None:
    yaml = pytest.importorskip("yaml")
    alerts = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text())
    rules = [rule for group in alerts["groups"] for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 10
    for rule in rules:
        assert rule["labels"]["severity"] in ("warning", "critical") and rule["annotations"]["summary"]


def test_panels_of_the_dashboard_do_not_overlap() -> None:
    panels = json.loads((ROOT / "deploy" / "grafana" / "gribmill.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len({*cells}) == len(cells) and max(x for x, _ in cells) < 24
