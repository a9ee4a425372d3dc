"""What happens to every request and answer, whatever its route."""

__all__ = ["body_limit", "compression", "host_check", "security_headers"]
