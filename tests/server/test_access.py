"""Authentication by token, session or local address, and protection against cross-site requests."""

from __future__ import annotations

import pytest

from gribmill.access.audit import AuditTrail
from gribmill.access.tokens import Tokens
from gribmill.server.problems import HttpProblem
from gribmill.server.state.buckets import Buckets
from gribmill.server.state.verified_tokens import VerifiedTokens
from tests.server.live_server import LiveServer, StartServer

WHO = "/api/v1/session"
SAME = {"Sec-Fetch-Site": "same-origin"}


def test_token_identifies_the_caller(live_server: LiveServer) -> None:
    text = live_server.token("tenant_viewer", "acme")
    with live_server.client(text) as client:
        who = client.get(WHO).json()
    assert (who["role"], who["tenant_id"], who["kind"]) == ("tenant_viewer", "acme", "token")


def test_wrong_token_is_refused_even_on_this_machine(live_server: LiveServer) -> None:
    text = live_server.token("super_admin")
    with live_server.client() as client:
        assert client.get(WHO).json()["kind"] == "loopback"
        for wrong in (text[:-1].encode(), text.encode() + b"x", b"gm_x", "é".encode()):
            answer = client.get(WHO, headers=[(b"Authorization", b"Bearer " + wrong)])
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get(WHO, headers={"Authorization": f"Basic {text}"}).status_code == 401
        twice = [("Authorization", f"Bearer {text}")] * 2
        assert client.get(WHO, headers=twice).status_code == 401


def test_requests_through_a_proxy_are_not_from_this_machine(start_server: StartServer) -> None:
    server = start_server()
    with server.client() as client:
        for name in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
            assert client.get(WHO, headers={name: "192.0.2.1"}).json()["kind"] == "nobody"
    behind = start_server(behind_proxy=True)
    with behind.client() as client:
        assert client.get(WHO).json()["kind"] == "nobody"


def test_many_wrong_tokens_are_throttled_but_not_valid_ones(start_server: StartServer) -> None:
    server = start_server(behind_proxy=True)
    text = server.token("super_admin")
    with server.client() as client:
        wrong = {"Authorization": f"Bearer {text[:-1]}", "X-Forwarded-For": "192.0.2.66"}
        codes = [client.get(WHO, headers=wrong).status_code for _ in range(30)]
        assert codes[:20] == [401] * 20
        assert codes[-1] == 429
        assert int(client.get(WHO, headers=wrong).headers["retry-after"]) >= 1
        for address in ("192.0.2.66", "192.0.2.66, 192.0.2.7"):
            right = {"Authorization": f"Bearer {text}", "X-Forwarded-For": address}
            assert client.get(WHO, headers=right).status_code == 200


def test_proxy_may_add_a_header_of_its_own_after_the_clients(start_server: StartServer) -> None:
    server = start_server(behind_proxy=True)
    wrong = ("Authorization", f"Bearer {server.token('super_admin')[:-1]}")
    with server.client() as client:
        for n in range(25):
            made_up, real = ("X-Forwarded-For", f"198.51.100.{n}"), ("X-Forwarded-For", "192.0.2.66")
            last = client.get(WHO, headers=[wrong, made_up, real])
    assert last.status_code == 429


def test_requests_of_one_token_are_limited(start_server: StartServer) -> None:
    server = start_server(requests_per_minute=6)
    with server.client(server.token("super_admin")) as client:
        codes = [client.get(WHO).status_code for _ in range(4)]
    assert codes[0] == 200
    assert codes[-1] == 429


def test_a_token_is_exchanged_for_a_session_which_ends_at_logout(live_server: LiveServer) -> None:
    text = live_server.token("tenant_admin", "acme")
    with live_server.client() as client:
        answer = client.post("/login", json={"token": text}, headers=SAME)
        assert answer.status_code == 200
        cookie = answer.headers["set-cookie"]
        assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/", "gribmill-loopback="))
        assert "Secure" not in cookie
        assert (client.get(WHO).json()["kind"], client.get(WHO).json()["tenant_id"]) == ("session", "acme")
        kept = dict(client.cookies)
        assert client.post("/logout", headers=SAME).status_code == 303
        client.cookies.update(kept)
        assert client.get(WHO).json()["kind"] == "loopback"


def test_session_id_is_no_token_and_a_token_no_session_id(live_server: LiveServer) -> None:
    text = live_server.token("super_admin")
    with live_server.client() as client:
        client.post("/login", json={"token": text}, headers=SAME)
        session_id = client.cookies["gribmill-loopback"]
        assert client.get(WHO).json()["kind"] == "session"
    with live_server.client(session_id) as client:
        assert client.get(WHO).status_code == 401
    with live_server.client(text) as client:
        assert client.get(WHO).json()["kind"] == "token"
    with live_server.client(cookies={"gribmill-loopback": text}) as client:
        assert client.get(WHO).json()["kind"] == "loopback"


def test_cookie_behind_tls_has_the_host_prefix_and_secure(start_server: StartServer) -> None:
    server = start_server(behind_proxy=True)
    with server.client() as client:
        body = {"token": server.token("super_admin")}
        cookie = client.post("/login", json=body, headers=SAME).headers["set-cookie"]
        assert cookie.startswith("__Host-gribmill=")
        assert "Secure" in cookie
        assert "Domain" not in cookie


def test_a_form_logs_in_too_and_leads_back_when_it_is_refused(live_server: LiveServer) -> None:
    with live_server.client() as client:
        good = client.post("/login", data={"token": live_server.token("super_admin")}, headers=SAME)
        bad = client.post("/login", data={"token": "gm_nothing"}, headers=SAME)
        assert (good.status_code, good.headers["location"]) == (303, "/")
        assert (bad.status_code, bad.headers["location"]) == (303, "/login?refused=1")
        assert client.post("/login", content=b"\xff", headers=SAME).status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 403),
    ],
)
def test_only_same_origin_pages_make_changes_with_a_session(
    live_server: LiveServer, headers: dict[str, str], status: int
) -> None:
    with live_server.client() as client:
        client.post("/login", json={"token": live_server.token("super_admin")}, headers=SAME)
        assert client.post("/logout", headers=headers).status_code == status


def test_old_browsers_are_checked_by_origin(live_server: LiveServer) -> None:
    with live_server.client() as client:
        client.post("/login", json={"token": live_server.token("super_admin")}, headers=SAME)
        assert client.post("/logout", headers={"Origin": live_server.url}).status_code == 303


def test_logging_in_is_in_the_audit_trail(live_server: LiveServer) -> None:
    with live_server.client() as client:
        client.post("/login", json={"token": live_server.token("tenant_admin", "acme")}, headers=SAME)
    (entry,) = AuditTrail(live_server.store.database).list()
    assert (entry.operation, entry.status, entry.tenant_id, entry.address) == ("log_in", 200, "acme", "127.0.0.1")


def test_a_revoked_token_is_refused(live_server: LiveServer) -> None:
    text = live_server.token("super_admin")
    Tokens(live_server.store.database).revoke(text[3:11])
    with live_server.client(text) as client:
        assert client.get(WHO).status_code == 401


def test_verified_tokens_are_forgotten_after_a_second(live_server: LiveServer) -> None:
    text = live_server.token("super_admin")
    token = Tokens(live_server.store.database).verify(text)
    assert token is not None
    now = [0.0]
    verified = VerifiedTokens(lambda: now[0])
    verified.put("token", text, token)
    now[0] = 0.9
    assert verified.get("token", text) is token
    now[0] = 1.0
    assert verified.get("token", text) is None


def test_bucket_refills_over_time() -> None:
    now = [0.0]
    buckets = Buckets(0.5, 2, lambda: now[0])
    for _ in range(2):
        buckets.refuse_if_spent("a", "too many")
        buckets.take("a")
    with pytest.raises(HttpProblem, match="try again in 2 s"):
        buckets.refuse_if_spent("a", "too many")
    buckets.refuse_if_spent("b", "too many")
    now[0] = 2.0
    buckets.refuse_if_spent("a", "too many")
