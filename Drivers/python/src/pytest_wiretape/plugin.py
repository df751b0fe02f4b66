"""The pytest plugin: a session of wiretape for each marked test."""

from __future__ import annotations

import os
import re
import subprocess
import warnings

import pytest

from .clients import Clients, set_trust
from .serve import Server, ServerError, Session

MODES = ("none", "once", "new-episodes", "all")
SESSION = pytest.StashKey["Session"]()
CLIENTS = pytest.StashKey["Clients"]()
FAILED = pytest.StashKey[bool]()
SERVER = pytest.StashKey[Server]()
# Members of POST /sessions that pytest's users know by Python's spelling.
RULES = ("match", "ignore", "patterns")


def pytest_addoption(parser):
    group = parser.getgroup("wiretape")
    group.addoption("--wiretape-mode", choices=MODES, help="for all tests; default: once, and none if CI is set")
    group.addoption("--wiretape-program", default=os.environ.get("WIRETAPE", "wiretape"), help="default: WIRETAPE, or wiretape")
    parser.addini("wiretape_folder", "folder of the cassettes, below the root of the project", default="cassettes")
    parser.addini("wiretape_arguments", "further arguments of wiretape serve", type="args", default=[])
    parser.addini("wiretape_block_network", "fail connections that go round wiretape", type="bool", default=True)
    parser.addini("wiretape_allowed_hosts", "hosts that tests may connect to directly", type="args", default=[])
    parser.addini("wiretape_vcr", "treat @pytest.mark.vcr as @pytest.mark.wiretape, and import its cassettes", type="bool", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    # Before conftest.py can import a client that reads the roots when it is imported.
    folder = os.path.join(str(early_config.rootpath), early_config.getini("wiretape_folder"))
    arguments = tuple(early_config.getini("wiretape_arguments"))
    try:
        server = Server(early_config.known_args_namespace.wiretape_program, folder, arguments)
    except ServerError as error:
        raise pytest.UsageError(f"wiretape: {error}") from error
    early_config.stash[SERVER] = server
    early_config.add_cleanup(server.stop)
    # A session is cheap, and its answer names the variables.
    names = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH")
    set_trust(server.trust["bundle"], dict.fromkeys(names, server.trust["bundle"]))


def pytest_configure(config):
    config.addinivalue_line("markers", "wiretape(cassette=None, mode=None, **members): record or replay the test's HTTP traffic")
    config.addinivalue_line("markers", "vcr: of vcrpy; with wiretape_vcr the same as wiretape")


@pytest.fixture
def wiretape(request) -> Session:
    """The session of this test."""
    return request.node.stash[SESSION]


def _mark(item):
    """The marker that applies, or nothing."""
    mark = item.get_closest_marker("wiretape")
    if mark is None and item.config.getini("wiretape_vcr"):
        mark = item.get_closest_marker("vcr")
    if mark is None and "wiretape" in getattr(item, "fixturenames", ()):
        mark = pytest.mark.wiretape.mark
    return mark


def cassette_name(nodeid: str) -> str:
    """The name of a test's cassette; different for different tests.

    >>> cassette_name("tests/test_shop.py::TestPets::test_lists[a/b]")
    'tests/test_shop/TestPets/test_lists[a%2Fb].json'
    """
    path, _, test = nodeid.partition("::")
    # The brackets of parameters may have "::" in them.
    name, bracket, parameters = test.partition("[")
    parts = path.removesuffix(".py").split("/") + name.split("::")
    parts[-1] += bracket + parameters
    return "/".join(_escaped(part) for part in parts) + ".json"


def _escaped(part: str) -> str:
    text = re.sub(r'[/\\%:*?"<>|\x00-\x1f\x7f]|^\.', lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), part)
    if len(text.encode()) <= 180:
        return text
    import hashlib

    return text.encode()[:160].decode(errors="ignore") + "~" + hashlib.sha256(part.encode()).hexdigest()[:12]


def _order(item, mark) -> dict:
    members = {re.sub(r"_(\w)", lambda match: match[1].upper(), name): value for name, value in mark.kwargs.items()}
    cassette = members.pop("cassette", mark.args[0] if mark.args and mark.name == "wiretape" else None)
    mode = item.config.getoption("--wiretape-mode") or members.pop("mode", None) or ("none" if os.environ.get("CI") else "once")
    members.pop("mode", None)
    if mark.name == "vcr":
        members = _vcr_members(members)
    rules = {name: members.pop(name) for name in RULES if name in members}
    order = {"cassette": cassette or cassette_name(item.nodeid), "mode": mode, "label": item.nodeid, **members}
    if not order["cassette"].endswith(".json"):
        order["cassette"] += ".json"
    return {**order, "rules": rules} if rules else order


def _vcr_members(members: dict) -> dict:
    """What vcrpy's options are called here; without match_on vcrpy compares the method and the URL, and no body."""
    names = {"uri": "url", "raw_body": "body"}
    translated = {"match": [names.get(name, name) for name in members.pop("matchOn", ("method", "uri"))]}
    for option, place in (("filterHeaders", "header"), ("filterQueryParameters", "query"), ("filterPostDataParameters", "form")):
        for name in members.pop(option, ()):
            translated.setdefault("redact", []).append(f"{place}:{name[0] if isinstance(name, tuple) else name}")
    members.pop("recordMode", None)
    if members:
        warnings.warn(f"wiretape ignores these options of the vcr marker: {', '.join(sorted(members))}", stacklevel=1)
    return translated


def _import_vcr(item, mark, server: Server, order: dict) -> None:
    """Makes the cassette of vcrpy's the first time that its test runs."""
    target = os.path.join(server.folder, order["cassette"])
    if mark.name != "vcr" or order["mode"] == "all" or os.path.exists(target):
        return
    folder, name = os.path.join(item.path.parent, "cassettes"), re.sub(r"[^\w\-\[\]. ]", "-", item.name)
    candidates = [os.path.join(folder, argument) for argument in mark.args]
    candidates += [os.path.join(folder, *middle, name + end) for middle in ([item.path.stem], []) for end in (".yaml", ".json")]
    for candidate in candidates:
        if os.path.isfile(candidate):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            done = subprocess.run([server.program, "import", candidate, "-o", target], capture_output=True, text=True)
            if done.returncode:
                raise ServerError(f"{candidate} cannot be imported: {done.stderr.strip()}", "import")
            return


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    # Before the fixtures, which may send requests too.
    mark = _mark(item)
    if mark is None:
        return
    server = item.config.stash[SERVER]
    try:
        order = _order(item, mark)
        _import_vcr(item, mark, server, order)
        session = server.open(**order)
    except ServerError as error:
        failure = f"wiretape: {error}"
    else:
        item.stash[SESSION], item.stash[CLIENTS], item.stash[FAILED] = session, Clients(), False
        item.stash[CLIENTS].lead(session.environment)
        if item.config.getini("wiretape_block_network"):
            item.stash[CLIENTS].block([server.proxy, server.control], item.config.getini("wiretape_allowed_hosts"))
        return
    pytest.fail(failure, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    result = yield
    session = item.stash.get(SESSION, None)
    if session is not None:
        report = session.report()
        # A miss is the test's failure even where the test did not notice it.
        if report["verdict"]["misses"] or report["verdict"]["unreadable"]:
            pytest.fail(_text(report), pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if SESSION in item.stash and report.failed:
        item.stash[FAILED] = True
        if call.when == "call" and not str(report.longrepr).startswith("wiretape: "):
            text = item.stash[SESSION].report()["text"]
            if text:
                report.sections.append(("wiretape", text))
    return report


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item):
    try:
        return (yield)
    finally:
        session, clients = item.stash.get(SESSION, None), item.stash.get(CLIENTS, None)
        if clients is not None:
            clients.undo()
        if session is not None:
            del item.stash[SESSION]
            report = session.end(failed=item.stash[FAILED])
            if report["exit"] and not item.stash[FAILED]:
                pytest.fail(_text(report), pytrace=False)


def _text(report: dict) -> str:
    return f"wiretape: {report['cassette']}: {report['text'] or 'exit code ' + str(report['exit'])}"
