"""The parts of libraries that no interface promises and Mudra builds on, by name.

pyproject.toml keeps each of these libraries below its next minor release. When that bound is
raised, a part that is gone is named here.
"""

import ast
import inspect
from types import ModuleType

import pytest
from prometheus_client.metrics import Histogram, MetricWrapperBase
from tools.pages import metrics as page_of_metrics
from uvicorn.config import Config
from uvicorn.lifespan.off import LifespanOff
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import Server, ServerState

from mudra.agent.host import listener, run
from mudra.bootstrap.node import graceful_stop
from mudra.bootstrap.observability import telemetry
from mudra.http.server import fast_path_protocol
from mudra.server_protocol import limited_protocol

CONNECTION = (limited_protocol, fast_path_protocol)
SERVER = (graceful_stop, listener, run)

OF_A_CONNECTION = {
    # overridden
    *("connection_made", "connection_lost", "pause_writing", "resume_writing", "data_received"),
    *("eof_received", "shutdown", "_should_upgrade_to_ws", "send_400_response"),
    "_start_asgi_task",
    *("on_message_begin", "on_url", "on_header", "on_headers_complete", "on_body"),
    *("on_message_complete", "on_response_complete"),
    # used
    *("transport", "loop", "client", "server_state", "timeout_keep_alive", "flow", "parser"),
    *("url", "headers", "expect_100_continue", "cycle", "pipeline"),
    "_unset_keepalive_if_required",
}
OF_A_CYCLE = {
    *("response_started", "response_complete", "keep_alive", "more_body", "disconnected"),
    *("message_event", "scope"),
}
OF_A_SERVER = {
    *("startup", "main_loop", "handle_exit", "shutdown", "capture_signals", "serve", "on_tick"),
    *("should_exit", "servers", "server_state", "config", "lifespan"),
}
OF_A_HISTOGRAM = {"_sum", "_upper_bounds", "_buckets"}

PARTS = [
    (HttpToolsProtocol, OF_A_CONNECTION),
    (RequestResponseCycle, OF_A_CYCLE),
    (FlowControl, {"write_paused"}),
    (Server, OF_A_SERVER),
    (ServerState, {"connections", "default_headers"}),
    (Config, {"http_protocol_class"}),
    (LifespanOff, {"state"}),
    (Histogram, OF_A_HISTOGRAM),
    (MetricWrapperBase, {"_labelnames"}),
]


def members(library: type) -> set[str]:
    """What instances have: what the class defines, and what its methods assign to `self`."""
    found = {name for one in library.__mro__[:-1] for name in vars(one)}
    for one in library.__mro__[:-1]:
        for node in ast.walk(ast.parse(inspect.getsource(one))):
            match node:
                case ast.Attribute(ast.Name("self"), name, ast.Store()):
                    found.add(name)
    return found


def read_of(holders: set[str], *modules: ModuleType) -> set[str]:
    """The attributes that modules take from what has one of these names."""
    found = set()
    for module in modules:
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            match node:
                case ast.Attribute(ast.Name(holder) | ast.Attribute(_, holder), name):
                    found |= {name} if holder in holders else set()
    return found


def defined_in(*modules: ModuleType) -> set[str]:
    """The methods and class attributes of modules."""
    return {
        name
        for module in modules
        for one in vars(module).values()
        if inspect.isclass(one) and one.__module__ == module.__name__
        for name in vars(one)
        if not name.startswith("__")
    }


@pytest.mark.parametrize(("library", "parts"), PARTS, ids=[one.__name__ for one, _ in PARTS])
def test_each_private_part_that_mudra_builds_on_is_there(library: type, parts: set[str]) -> None:
    assert parts - members(library) == set()


def test_no_private_part_that_mudra_builds_on_is_left_out_above() -> None:
    ours = defined_in(*CONNECTION) | read_of({"self"}, *CONNECTION)
    assert ours & members(HttpToolsProtocol) == OF_A_CONNECTION
    assert read_of({"cycle", "last"}, *CONNECTION) == OF_A_CYCLE
    of_servers = defined_in(*SERVER) | read_of({"self", "server"}, *SERVER)
    assert of_servers & members(Server) == OF_A_SERVER
    assert read_of({"self"}, telemetry) & members(Histogram) == OF_A_HISTOGRAM
    private = {name for name in read_of({"metric"}, page_of_metrics) if name.startswith("_")}
    assert private == {"_labelnames"}
