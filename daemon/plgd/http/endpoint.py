"""The endpoint's socket and server, in the daemon's own event loop."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

import uvicorn

from plgd.config import HttpConfig
from plgd.errors import ConfigError
from plgd.http.app import make_app
from plgd.http.completer import Completer
from plgd.http.patience import PatientProtocol
from plgd.http.token import keep_token
from plgd.paths import Paths

__all__ = ("HttpEndpoint",)

_LOOPBACK: Final = "127.0.0.1"
# What is under way when the daemon ends has been answered; this is for its last bytes.
_LAST_BYTES_S: Final = 2

_LOG: Final = logging.getLogger(__name__)


class _Server(uvicorn.Server):
    """A server that leaves signals to the daemon."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class HttpEndpoint:
    """Implements `plgd.http.completer.Endpoint`.

    Args:
        config: of the endpoint.
        paths: the user's folders; the token is kept there.
        completer: writes completions.

    Raises:
        ConfigError: the port is taken, or the file with the token cannot be used.
    """

    def __init__(self, config: HttpConfig, paths: Paths, completer: Completer) -> None:
        token = config.token or keep_token(paths.http_token)
        self._socket = _listen(config.port)
        self._server = _Server(
            uvicorn.Config(
                make_app(completer, token=token, body_limit=config.body_limit),
                http=PatientProtocol,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=config.connection_limit + 1,  # the one that is refused is counted, too
                timeout_graceful_shutdown=_LAST_BYTES_S,
            )
        )

    @property
    def port(self) -> int:
        """Where on 127.0.0.1."""
        port: int = self._socket.getsockname()[1]
        return port

    async def run(self) -> None:
        """Serve clients until `stop`, or until it is cancelled."""
        _LOG.info("chat completions are answered at http://%s:%d/v1", _LOOPBACK, self.port)
        with closing(self._socket):
            await self._server.serve(sockets=[self._socket])

    def stop(self) -> None:
        """Accept nothing more, and let `run` return when what is under way is answered."""
        self._server.should_exit = True


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # A port that a daemon has just left counts as taken otherwise.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_LOOPBACK, port))
        listener.listen()
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise ConfigError.with_taken_port(port, error.strerror or str(error)) from error
    return listener
