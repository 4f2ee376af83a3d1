"""`focore serve`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import OptionError
from ..joining import named
from .app import app
from .options import DeviceOption, DtypeOption, ExtraOption, MethodOption, ModelOption, read_options

if TYPE_CHECKING:
    from ..serve.limits import Limits

LOOPBACK = ("127.0.0.1", "localhost", "::1")

HostOption = Annotated[str, typer.Option("--host", help="the address to listen at")]
PortOption = Annotated[int, typer.Option("--port", help="the port to listen at; 0 for any")]
NameOption = Annotated[str | None, typer.Option("--name", help="what clients call the model")]
KeyOption = Annotated[
    str | None,
    typer.Option("--api-key", help="the key that clients send (or FOCORE_API_KEY)"),
]
OpenOption = Annotated[bool, typer.Option("--no-auth", help="listen to others without a key")]
CorsOption = Annotated[
    list[str] | None, typer.Option("--cors", help="an origin whose pages may call; repeatable")
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option("--allow-host", help="a name the server may be called by; repeatable"),
]
LimitOption = Annotated[
    list[str] | None, typer.Option("--limit", "-L", help="a limit as name=value; repeatable")
]
RayOption = Annotated[bool, typer.Option("--ray", help="serve on a Ray cluster, or a local one")]
AddressOption = Annotated[
    str | None, typer.Option("--ray-address", help="the cluster's address (or RAY_ADDRESS)")
]
ReplicasOption = Annotated[
    int | None, typer.Option("--replicas", help="with --ray: how many replicas")
]
AutoscaleOption = Annotated[
    str | None, typer.Option("--autoscale", help="with --ray: MIN:MAX replicas, as needed")
]
LogOption = Annotated[bool, typer.Option("--log-prompts", help="write prompts and answers too")]


@app.command()
def serve(
    model: ModelOption = "tiny",
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    method: MethodOption = "focore",
    option: ExtraOption = None,
    name: NameOption = None,
    api_key: KeyOption = None,
    no_auth: OpenOption = False,
    cors: CorsOption = None,
    allow_host: AllowOption = None,
    limit: LimitOption = None,
    log_prompts: LogOption = False,
    dtype: DtypeOption = "auto",
    device: DeviceOption = "auto",
    ray: RayOption = False,
    ray_address: AddressOption = None,
    replicas: ReplicasOption = None,
    autoscale: AutoscaleOption = None,
) -> None:
    """Serve a model by OpenAI's API, with a page at /."""
    if not ray and (ray_address or autoscale or replicas is not None):
        raise OptionError("--ray-address, --replicas and --autoscale need --ray")
    key = _key((ray and named(ray_address)) or host, api_key, no_auth)
    try:
        from ..serve.run import run
        from ..serve.settings import ServeSettings
    except ImportError as error:
        raise OptionError(f"{error.name} is missing: pip install 'focore[serve]'") from None
    hosts = ("localhost", "127.0.0.1", "[::1]") if host in LOOPBACK else ()
    settings = ServeSettings(
        model=model,
        dtype=dtype,
        device=device,
        name=name,
        method=method,
        options=read_options(option),
        limits=_limits(limit),
        api_key=key,
        cors=tuple(cors or ()),
        hosts=(*hosts, *(allow_host or ())),
        log_prompts=log_prompts,
    )
    if ray:
        from ..serve.ray import Scale
        from ..serve.ray import run as run_on_ray

        run_on_ray(settings, Scale.read(replicas, autoscale), host, port, ray_address)
    else:
        run(settings, host, port)


def _key(host: str, given: str | None, no_auth: bool) -> str | None:
    """The key of clients; none only if nobody else can call, or it is said.

    Where a cluster listens is its own affair: one that runs Ray Serve already keeps its address.
    """
    key = given or os.environ.get("FOCORE_API_KEY") or None
    if host not in LOOPBACK and not key and not no_auth:
        raise OptionError(
            f"to listen at {host}, others need a key: give --api-key, or --no-auth for none"
        )
    return key


def _limits(given: list[str] | None) -> Limits:
    from dataclasses import fields

    from ..errors import unknown
    from ..serve.limits import Limits

    said = read_options(given)
    known = {item.name: type(item.default) for item in fields(Limits)}
    for name, value in said.items():
        if name not in known:
            raise unknown("limit", name, known)
        if isinstance(value, bool) or not isinstance(value, (int, known[name])):
            raise OptionError(f"limit {name}={value!r} is not a number")
    return Limits(**said)
