"""What identifies a field besides its quantity: centre, process, ECMWF's labels, member or statistic, threshold."""

from __future__ import annotations

from collections.abc import Mapping

from gribmill.grib.names.long_names import PROBABILITIES
from gribmill.grib.product.keys import Keys

# Values by name; values that the message lacks are left out. Tiles store it in `meta`.
FieldIdentity = dict[str, str | int | float]

# Code table 4.6.
MEMBER_KINDS = {
    0: "high-resolution control", 1: "low-resolution control", 2: "negatively perturbed", 3: "positively perturbed",
    4: "multi-model",
}  # fmt: skip
# Code table 4.7.
DERIVED = {
    0: "mean", 1: "weighted mean", 2: "standard deviation", 3: "normalised standard deviation", 4: "spread",
    5: "large anomaly index", 6: "mean of a cluster", 7: "interquartile range", 8: "minimum", 9: "maximum",
}  # fmt: skip
LABELS = ("class", "stream", "type", "expver")
OPERATIONAL = "0001"


def field_identity(keys: Keys) -> FieldIdentity:
    """Everything that distinguishes the field from the same quantity of another model, member or statistic."""
    found: dict[str, str | int | float | None] = {
        "centre": keys.centre,
        "subcentre": keys.subcentre or None,
        "process": keys.process,
    }
    if keys.mars is not None:
        labels = keys.mars.mars_class, keys.mars.stream, keys.mars.type, keys.mars.expver
        found |= dict(zip(LABELS, labels, strict=True))
    found |= {
        "ensemble_member": keys.ensemble_member,
        "member_kind": MEMBER_KINDS.get(-1 if keys.member_kind is None else keys.member_kind),
        "ensemble_size": keys.members or None,
        "derived": None if keys.derived is None else DERIVED.get(keys.derived, f"code {keys.derived}"),
        "percentile": keys.percentile,
        "of_many": keys.of_many,
    }
    if keys.probability is not None:
        words = PROBABILITIES.get(keys.probability.kind, f"kind {keys.probability.kind}")
        found["probability"] = words.format(lower="lower", upper="upper")
        found |= {"lower": keys.probability.lower, "upper": keys.probability.upper}
    return {name: value for name, value in found.items() if value is not None}


def identity_text(identity: Mapping[str, str | int | float], *, whole: bool = True) -> str:
    """`centre 7, process 107, member 1`; if not `whole`, only the labels and the ensemble's part."""
    parts = [f"{name} {identity[name]}" for name in ("centre", "subcentre", "process") if whole and name in identity]
    parts += [" ".join(str(identity[name]) for name in LABELS[:3] if name in identity)]
    if identity.get("expver", OPERATIONAL) != OPERATIONAL:
        parts.append(f"version {identity['expver']}")
    if "ensemble_member" in identity:
        number = identity["ensemble_member"]
        parts.append(f"member {number}" if number else "control")
    parts += [f"ensemble {identity['derived']}"] if "derived" in identity else []
    parts += [f"percentile {identity['percentile']}"] if "percentile" in identity else []
    if "probability" in identity:
        limits = {name: f"{identity.get(name, '?')}" for name in ("lower", "upper")}
        parts.append(" ".join(limits.get(word, word) for word in str(identity["probability"]).split()))
    parts += [f"{identity['of_many']} of many"] if "of_many" in identity else []
    return ", ".join(part for part in parts if part)
