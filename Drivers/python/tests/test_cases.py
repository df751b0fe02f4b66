"""The cases that all drivers pass, and the description of the API that they rest on."""

import json
import shutil
import urllib.error
import urllib.request

import jsonschema
import pytest
from conftest import CASES
from pytest_wiretape import Server, ServerError


def fetch(session, url):
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"http": session.proxy, "https": session.proxy}),
        urllib.request.HTTPSHandler(context=session.ssl_context()))
    try:
        with opener.open(url, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def play(case, server, origin):
    if "refused" in case:
        with pytest.raises(ServerError) as refusal:
            server.open(**case["order"])
        assert refusal.value.code == case["refused"]
        return
    session = server.open(**case["order"])
    for request in case["requests"]:
        status, body = fetch(session, request["url"].replace("ORIGIN", origin.address))
        assert status == request["status"], body
        assert body == request.get("body", body)
    report = session.end(case.get("failed", False))
    assert report["exit"] == case["exit"], report
    for text in case.get("text", []):
        assert text in report["text"]
    if "again" in case:
        origin.stop()
        play(case["again"], server, origin)


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_case(path, tmp_path, origin, program):
    case = json.loads(path.read_text())
    if "cassette" in case:
        shutil.copy(CASES / "cassettes" / case["cassette"], tmp_path / case["order"]["cassette"])
    server = Server(program, str(tmp_path))
    try:
        play(case, server, origin)
    finally:
        server.stop()


def test_answers_are_what_the_description_says(tmp_path, program):
    server = Server(program, str(tmp_path))
    try:
        description = server.ask("GET", "/openapi.json")
        schemas = {"$ref": None, "components": description["components"]}

        def check(kind, value):
            jsonschema.validate(value, {**schemas, "$ref": f"#/components/schemas/{kind}"}, jsonschema.Draft202012Validator)

        shutil.copy(CASES / "cassettes/pets.json", tmp_path)
        order = {"cassette": "pets.json", "label": "one", "folders": True, "owner": 1, "rules": {"ignore": ["query:a"]}, "port": True}
        check("Order", order)
        session = server.open(**{**order, "owner": __import__("os").getpid()})
        check("Session", session.answer)
        assert fetch(session, "http://pets.test/none")[0] == 424
        for report in [session.report(), *server.ask("GET", "/sessions")["sessions"], session.end()]:
            check("Report", report)
        with pytest.raises(jsonschema.ValidationError):
            check("Order", {"cassete": "pets.json"})
    finally:
        server.stop()
