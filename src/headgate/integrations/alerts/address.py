"""The address of a channel, which never appears in texts, errors or logs."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

import httpx

from headgate.values.errors import DeliveryError, MisuseError
from headgate.values.hidden import Hidden


class Endpoint:
    """The URL to post to and the headers to send. All values are hidden, since they may be secrets."""

    def __init__(self, url: str, headers: Mapping[str, str] | None, allow_http: bool) -> None:
        self._url = Hidden(url)
        self._headers = {name: Hidden(value) for name, value in (headers or {}).items()}
        self._allow_http = allow_http
        if self._url.is_literal and (refusal := _find_refusal(url, allow_http)):
            raise MisuseError(refusal[0], hint=refusal[1])

    def __repr__(self) -> str:
        return repr(self._url)

    def url(self) -> httpx.URL:
        """The address, with its variables replaced; raises `DeliveryError` if it may not be used."""
        text = self._url.reveal()
        if refusal := _find_refusal(text, self._allow_http):
            raise DeliveryError(refusal[0], hint=refusal[1])
        return httpx.URL(text)

    def headers(self) -> dict[str, str]:
        """The headers, with their variables replaced."""
        return {name: value.reveal() for name, value in self._headers.items()}


def _find_refusal(text: str, allow_http: bool) -> tuple[str, str] | None:
    """Why an address is refused, and what to do instead; neither text quotes the address. None if it is accepted."""
    hint = "Write https://host/path, or ${env:NAME} for a variable that holds it."
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        return "the address of the channel cannot be read.", hint
    if url.scheme not in ("http", "https") or not url.host:
        return "the address of a channel begins with https:// and names a host.", hint
    if url.scheme == "http" and not (allow_http or _is_loopback(url.host)):
        return "http:// sends secrets in the open.", "Use https://, or pass allow_http=True."
    return None


def _is_loopback(host: str) -> bool:
    """Whether the host is this machine, so that nothing travels over a network.

    >>> _is_loopback("127.0.0.1"), _is_loopback("::1"), _is_loopback("localhost"), _is_loopback("localhost.example.org")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
