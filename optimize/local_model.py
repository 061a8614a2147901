"""The embedded model as a transport."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Final

from lineage.errors import CallError
from students.local import LocalServer, known_model, require_model
from students.transport import CallRequest, CallResult, EndpointTransport

LOCAL_CONTEXT: Final = 4096
"""Tokens of an embedded model's context, prompt and answer together."""


class LocalTransport:
    """The embedded model: its server starts at the first call and stops when the transport is closed."""

    serial: Final = True
    simulated: Final = False

    def __init__(self, name: str, *, deadline_s: float = 120.0) -> None:
        model = known_model(name)
        self.identity = {"local": model.name, "sha256": model.sha256, "runtime": f"xllamacpp {version('xllamacpp')}"}
        self._name, self._deadline_s = name, deadline_s
        self._server: LocalServer | None = None
        self._endpoint: EndpointTransport | None = None

    def check(self) -> Path:
        """Path of the model file.

        Raises:
            ModelError: it is not on this machine, or is not the right file.
        """
        return require_model(self._name)

    async def complete(self, request: CallRequest) -> CallResult:
        """Make one call (see :class:`~students.transport.base.Transport`)."""
        endpoint = self._started()
        try:
            return await endpoint.complete(request)
        except CallError:
            if self._server is not None:
                self._server.ensure_alive()
            raise

    async def prime(self, request: CallRequest) -> None:
        """Bring the server's prompt cache into the state after ``request``."""
        await self._started().prime(request)

    async def aclose(self) -> None:
        """Stop the server."""
        if self._endpoint is not None:
            await self._endpoint.aclose()
        if self._server is not None:
            self._server.stop()
        self._endpoint = self._server = None

    def _started(self) -> EndpointTransport:
        if self._endpoint is None:
            self._server = LocalServer(self.check(), context_tokens=LOCAL_CONTEXT)
            self._server.start()
            self._endpoint = EndpointTransport(
                self._server.base_url,
                model=self._name,
                identity=self.identity,
                serial=True,
                deadline_s=self._deadline_s,
            )
        return self._endpoint
