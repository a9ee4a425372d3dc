"""Which network addresses are on the public internet."""

from __future__ import annotations

import ipaddress
import socket

_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether an address is on the public internet: not private, loopback, link-local, multicast or reserved."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner:
            return is_public(str(inner))
    return address.is_global and not address.is_multicast and not address.is_reserved


def is_visibly_private(host: str) -> bool:
    """Whether a host names this machine or a private address by itself. Where another name leads, only DNS knows."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return not is_public(name)
    except ValueError:
        pass
    try:  # 127.1, 0x7f000001 and 2130706433 are addresses too
        return not is_public(socket.inet_ntoa(socket.inet_aton(name)))
    except OSError:
        return False
