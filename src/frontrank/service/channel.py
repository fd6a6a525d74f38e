"""How clients reach a service: a channel, its methods by name, and refusals as exceptions."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf.descriptor import MethodDescriptor

from frontrank.errors import InputError, NotFound, ServiceAway, ServiceError, ServiceFailed
from frontrank.service import wire
from frontrank.service.client_calls import ClientCall
from frontrank.service.refusals import SENTENCES
from frontrank.service.security import SYSTEM, check_token_is_safe

os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")  # a crawl in the same process forks; gRPC has no part in its children

import grpc
import grpc.aio

__all__ = ["TIMEOUT_S", "ServiceChannel", "channel_to", "grpc"]
SERVICE = wire.DESCRIPTOR.services_by_name["URLFrontier"]
TIMEOUT_S = 60.0
MAX_BYTES = 64 * 2**20
BROKEN_OFF = (  # the call was not judged; grpc.aio reports INTERNAL if a connection ends while a message is sent
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
)
OPTIONS = [("grpc.max_receive_message_length", MAX_BYTES), ("grpc.max_send_message_length", MAX_BYTES)]


class ServiceChannel:
    """The methods of a service over a channel, of ``grpc`` or of ``grpc.aio``."""

    def __init__(self, channel: Any, address: str, token: str, timeout_s: float) -> None:
        self.channel, self.address, self.timeout_s = channel, address, timeout_s
        self.metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self._methods = {method.name: self._method(method) for method in SERVICE.methods}

    def _method(self, method: MethodDescriptor) -> Any:
        kind = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
        return getattr(self.channel, kind)(
            f"/{SERVICE.full_name}/{method.name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=getattr(wire, method.output_type.name).FromString,
        )

    def _call(self, call: ClientCall[Any]) -> Any:
        return self._methods[call.method](call.message, timeout=self.timeout_s, metadata=self.metadata)

    def answers(self, call: ClientCall[Any]) -> list[Any]:
        answer = self._call(call)
        return list(answer) if SERVICE.methods_by_name[call.method].server_streaming else [answer]

    async def answers_async(self, call: ClientCall[Any]) -> list[Any]:
        answer = self._call(call)
        return [one async for one in answer] if SERVICE.methods_by_name[call.method].server_streaming else [await answer]

    def error(self, error: Any) -> Exception:
        code, sentence = error.code(), error.details() or ""
        if code == grpc.StatusCode.INVALID_ARGUMENT:
            return InputError(sentence)
        if code == grpc.StatusCode.NOT_FOUND:
            return NotFound(sentence or "the service does not know it")
        if code == grpc.StatusCode.UNAVAILABLE and sentence in SENTENCES:  # it answers, but cannot do it now
            return ServiceAway(f"{self.address}: {sentence}")
        if code == grpc.StatusCode.UNAVAILABLE:
            return ServiceAway(
                f"{self.address} does not answer ({sentence}); is the service running there? frontrank serve DIR"
            )
        if code == grpc.StatusCode.DEADLINE_EXCEEDED:
            return ServiceAway(
                f"{self.address} did not answer within {self.timeout_s:g} s; try again, or with a longer timeout_s"
            )
        kind = ServiceFailed if code in BROKEN_OFF else ServiceError
        return kind(f"{self.address}: {sentence or 'the call failed'} ({code.name})")


def channel_to(kind: Any, address: str, token: str, tls_ca: str, insecure: bool) -> Any:
    """A channel of ``grpc`` or of ``grpc.aio``, over TLS if a certificate is trusted."""
    check_token_is_safe(address, token, bool(tls_ca), insecure)
    if tls_ca:
        return kind.secure_channel(address, credentials(tls_ca), OPTIONS)
    return kind.insecure_channel(address, OPTIONS)


def credentials(tls_ca: str) -> Any:
    if tls_ca == SYSTEM:
        return grpc.ssl_channel_credentials()
    try:
        with open(tls_ca, "rb") as file:
            return grpc.ssl_channel_credentials(file.read())
    except OSError as error:
        raise InputError(f"{tls_ca}: the certificate cannot be read ({error.strerror})") from None
