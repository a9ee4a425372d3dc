"""CF standard names that match the units of a variable, and units that UDUNITS can parse."""

from __future__ import annotations

# CF has separate standard names for water as a mass and as a depth; None if there is no name for a depth.
AS_DEPTH: dict[str, str | None] = {
    "precipitation_amount": "lwe_thickness_of_precipitation_amount",
    "convective_precipitation_amount": "lwe_thickness_of_convective_precipitation_amount",
    "stratiform_precipitation_amount": "lwe_thickness_of_stratiform_precipitation_amount",
    "snowfall_amount": "lwe_thickness_of_snowfall_amount",
    "surface_snow_amount": "lwe_thickness_of_surface_snow_amount",
    "canopy_water_amount": "lwe_thickness_of_canopy_water_amount",
    "runoff_amount": None,
    "surface_runoff_amount": None,
    "precipitation_flux": "lwe_precipitation_rate",
    "convective_precipitation_flux": "lwe_convective_precipitation_rate",
    "atmosphere_mass_content_of_water_vapor": "lwe_thickness_of_atmosphere_mass_content_of_water_vapor",
    "atmosphere_mass_content_of_water": None,
    "atmosphere_mass_content_of_cloud_condensed_water": None,
    "geopotential": "geopotential_height",
    "surface_geopotential": None,
}
# The units for which the names above are correct.
MASS = {"kg m-2", "kg m-2 s-1", "m2 s-2"}
# UDUNITS has no geopotential metres, and CF uses metres for geopotential height; its mph are milliphots.
UNITS = {"gpm": "m", "mph": "mi h-1"}
LAND_MASK, LAND_FRACTION = "land_binary_mask", "land_area_fraction"


def cf_units(units: str) -> str:
    """The unit as written in CF."""
    return UNITS.get(units, units)


def cf_standard_name(name: str | None, units: str, *, codes: bool = False) -> str | None:
    """The standard name of a quantity in these units, or of a code field; None if CF has none."""
    if name == LAND_MASK and not codes:
        # ECMWF publishes the fraction of land in a cell.
        return LAND_FRACTION
    if name is None or units in MASS:
        return name
    return AS_DEPTH.get(name, name)
