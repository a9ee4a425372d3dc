"""Distinguishes addresses on the public internet from private ones."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Not on the internet either, though some versions of Python say so: protocol assignments (a cloud's metadata service is
# at 192.0.0.192), the old site-local addresses, and documentation.
_NOT_PUBLIC = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "fec0::/10", "3fff::/20")))


def is_public(text: str) -> bool:
    """Whether an address is on the public internet: not private, loopback, link-local, multicast or reserved."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner:
            return is_public(str(inner))
    if any(address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def is_visibly_private(host: str) -> bool:
    """Whether a host is `localhost` or a private address literal. Other names have to be resolved first."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _address(name)
    return address is not None and not is_public(address)


def _address(name: str) -> str | None:
    """The IP address that a host spells, also as 127.1, 0x7f000001 or 2130706433; None for a DNS name."""
    with suppress(ValueError):
        return str(ipaddress.ip_address(name.partition("%")[0]))
    try:
        return socket.inet_ntoa(socket.inet_aton(name))
    except OSError:
        return None
