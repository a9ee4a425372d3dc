"""What is said of an ensemble's statistic of a quantity: its spread, a percentile, the chance of a threshold."""

from __future__ import annotations

from gribmill.grib.product.keys import Keys, Probability

# Code table 4.7, but for means, which are called as the quantity itself.
STATISTICS = {
    2: "standard deviation of the ensemble",
    3: "normalised standard deviation of the ensemble",
    4: "spread of the ensemble",
    5: "large anomaly index of the ensemble",
    7: "interquartile range of the ensemble",
    8: "least of the ensemble",
    9: "greatest of the ensemble",
}
WITHOUT_UNIT = {3, 5}
# Code table 4.9.
CHANCES = {
    0: "chance of less than {lower}",
    1: "chance of more than {upper}",
    2: "chance of {lower} to {upper}",
    3: "chance of more than {lower}",
    4: "chance of less than {upper}",
}


def of_ensemble(long_name: str, units: str, keys: Keys) -> tuple[str, str]:
    """Long name and units of what the field holds, given those of its quantity. Chances are published in percent."""
    if keys.derived in STATISTICS:
        long_name = f"{long_name}, {STATISTICS[keys.derived]}"
        units = "1" if keys.derived in WITHOUT_UNIT else units
    if keys.percentile is not None:
        long_name = f"{long_name}, percentile {keys.percentile} of the ensemble"
    if keys.probability is not None:
        return f"{long_name}, {_chance(keys.probability, units)}", "%"
    return long_name, units


def _chance(probability: Probability, units: str) -> str:
    lower, upper = (
        "?" if limit is None else f"{limit:.9g} {units}" for limit in (probability.lower, probability.upper)
    )
    return CHANCES.get(probability.kind, f"chance of kind {probability.kind}").format(lower=lower, upper=upper)
