"""The plugin, as projects use it: each test runs pytest in a folder of its own."""

import json
import textwrap

import pytest
from pytest_wiretape.plugin import cassette_name


@pytest.fixture
def project(pytester, origin, monkeypatch):
    """Runs pytest in a project; ORIGIN is in the environment of its tests."""
    monkeypatch.setenv("ORIGIN", f"http://{origin.address}")
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")

    def run(*arguments, source=None):
        if source:
            pytester.makepyfile(test_shop=textwrap.dedent(source))
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)

    run.path, run.origin = pytester.path, origin
    return run


CLIENTS = """
    import os, urllib.request, pytest, requests, httpx, aiohttp, botocore.awsrequest, botocore.httpsession
    ORIGIN = os.environ["ORIGIN"]
    pytestmark = pytest.mark.wiretape

    def test_urllib():
        assert urllib.request.urlopen(ORIGIN + "/1").read() == b"1"

    def test_urllib_again():
        assert urllib.request.urlopen(ORIGIN + "/2").read() == b"2"

    def test_requests():
        assert requests.get(ORIGIN + "/3").text == "3"

    def test_httpx():
        assert httpx.get(ORIGIN + "/4").text == "4"

    async def test_httpx_async():
        async with httpx.AsyncClient() as client:
            assert (await client.get(ORIGIN + "/5")).text == "5"

    async def test_aiohttp():
        async with aiohttp.ClientSession() as session, session.get(ORIGIN + "/6") as answer:
            assert await answer.text() == "6"

    def test_urllib3(wiretape):
        assert wiretape.urllib3().request("GET", ORIGIN + "/7").data == b"7"

    def test_botocore():
        request = botocore.awsrequest.AWSRequest("GET", ORIGIN + "/8").prepare()
        session = botocore.httpsession.URLLib3Session(proxies=botocore.utils.get_environ_proxies(ORIGIN))
        assert session.send(request).content == b"8"

    @pytest.mark.parametrize("pet", ["a/b", "보리", "..", "x" * 300])
    def test_parameters(pet):
        assert requests.get(ORIGIN + "/9", params={"pet": pet}).text == "9"

    class TestPets:
        def test_in_a_class(self):
            assert requests.get(ORIGIN + "/10").text == "10"
"""


def test_clients_are_recorded_and_replayed_without_the_origin(project):
    project(source=CLIENTS).assert_outcomes(passed=13)
    assert project.origin.count == 13
    project.origin.stop()
    project("--wiretape-mode", "none").assert_outcomes(passed=13)
    assert (project.path / "cassettes/test_shop/TestPets/test_in_a_class.json").exists()


def test_workers_share_a_server(project):
    source = """
        import os, pytest, requests
        @pytest.mark.wiretape
        @pytest.mark.parametrize("number", range(200))
        def test_number(number):
            assert requests.get(f"{os.environ['ORIGIN']}/{number}").text == str(number)
    """
    project("-n", "8", source=source).assert_outcomes(passed=200)
    assert project.origin.count == 200
    project.origin.stop()
    project("-n", "8", "--wiretape-mode", "none").assert_outcomes(passed=200)
    project("-n", "8").assert_outcomes(passed=200)


def test_a_miss_fails_its_own_test_with_the_report(project):
    source = """
        import os, pytest, requests
        pytestmark = pytest.mark.wiretape
        PAGE = os.environ.get("PAGE", "1")
        def test_notices():
            assert requests.get(f"{os.environ['ORIGIN']}/1?page={PAGE}").status_code == 200
        def test_does_not_notice():
            requests.get(f"{os.environ['ORIGIN']}/2?page={PAGE}")
        def test_other():
            assert requests.get(f"{os.environ['ORIGIN']}/3").text == "3"
    """
    project(source=source).assert_outcomes(passed=3)
    project.origin.stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAGE", "2")
        result = project()
    result.assert_outcomes(passed=1, failed=2)
    output = result.stdout.str()
    assert output.count('query item is "page=2", recorded is "page=1"') == 2
    assert '"rules": {"ignore": ["query:page"]}' in output


def test_rules_and_members_of_the_marker(project):
    source = """
        import os, pytest, requests
        @pytest.mark.wiretape(ignore=["query:ts"], repeat="last", cassette="shop/ts")
        def test_ts():
            assert requests.get(f"{os.environ['ORIGIN']}/1?ts={os.getpid()}").text == "1"
        @pytest.mark.wiretape("shop/unused", fail_on=["miss", "unused"])
        def test_unused():
            requests.get(f"{os.environ['ORIGIN']}/1")
            if os.path.exists("second"): return
            requests.get(f"{os.environ['ORIGIN']}/2")
        @pytest.mark.wiretape(ignored=["query:ts"])
        def test_misspelled():
            pass
        def test_without():
            assert requests.get(f"{os.environ['ORIGIN']}/direct").text == "direct"
    """
    result = project(source=source)
    result.assert_outcomes(passed=3, errors=1)
    assert '"ignored" is unknown here' in result.stdout.str()
    assert (project.path / "cassettes/shop/ts.json").exists()
    (project.path / "second").touch()
    result = project()
    result.assert_outcomes(passed=3, errors=2)
    assert "unused: exchange 2" in result.stdout.str()
    assert project.origin.count == 5


def test_what_goes_round_fails(project):
    source = """
        import os, pytest, urllib3, requests
        @pytest.mark.wiretape
        def test_round():
            with pytest.raises(OSError, match="goes round wiretape"):
                urllib3.PoolManager(retries=False).request("GET", os.environ["ORIGIN"] + "/1")
            assert requests.get(os.environ["ORIGIN"] + "/1").text == "1"
    """
    project(source=source.replace("OSError", "urllib3.exceptions.HTTPError")).assert_outcomes(passed=1)
    project("-o", "wiretape_allowed_hosts=127.0.0.1").assert_outcomes(failed=1)


def test_a_failed_test_keeps_the_older_cassette(project):
    source = """
        import os, pytest, requests
        @pytest.mark.wiretape
        def test_pets():
            requests.get(f"{os.environ['ORIGIN']}/{os.environ.get('PATH_', '1')}")
            assert "PATH_" not in os.environ
    """
    project(source=source).assert_outcomes(passed=1)
    cassette = project.path / "cassettes/test_shop/test_pets.json"
    before = cassette.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH_", "2")
        project("--wiretape-mode", "all").assert_outcomes(failed=1)
    assert cassette.read_bytes() == before
    assert (cassette.parent / "test_pets.new.json").exists()


def test_in_ci_nothing_is_recorded(project, monkeypatch):
    monkeypatch.setenv("CI", "true")
    result = project(source="""
        import pytest
        @pytest.mark.wiretape
        def test_pets():
            pass
    """)
    result.assert_outcomes(errors=1)
    assert "there is no cassette" in result.stdout.str()


def test_projects_with_vcrpy_change_one_line(project):
    """Recorded by vcrpy itself, replayed with the setting alone."""
    source = """
        import os, pytest, requests, vcr
        @pytest.mark.vcr
        def test_pets():
            with vcr.use_cassette("cassettes/test_shop/test_pets.yaml"):
                assert requests.get(os.environ["ORIGIN"] + "/1").text == "1"
                assert requests.post(os.environ["ORIGIN"] + "/2", json={"a": 1}).text == "2"
    """
    project(source=source).assert_outcomes(passed=1)
    project.origin.stop()
    replaying = source.replace('with vcr.use_cassette("cassettes/test_shop/test_pets.yaml"):', "if True:")
    project(source=replaying).assert_outcomes(failed=1)
    project("-o", "wiretape_vcr=true", "--wiretape-mode", "none").assert_outcomes(passed=1)
    assert len(json.loads((project.path / "cassettes/test_shop/test_pets.json").read_text())["interactions"]) == 2
    project("-o", "wiretape_vcr=true").assert_outcomes(passed=1)


def test_a_missing_program_is_told(project):
    result = project("--wiretape-program", "no-such-program", source="def test(): pass")
    assert result.ret == 4
    assert "install wiretape, or name it with WIRETAPE" in result.stderr.str()


def test_names_of_different_tests_differ():
    ids = ["a.py::t", "a.py::t[a/b]", "a.py::t[a%2Fb]", "a.py::t[a::b]", "a.py::T::t", "b/a.py::t", "a.py::t[..]", "a.py::.t",
           "a.py::t[" + "x" * 300 + "]", "a.py::t[" + "x" * 301 + "]"]
    names = [cassette_name(nodeid) for nodeid in ids]
    assert len(set(names)) == len(ids)
    for name in names:
        assert all(part and part[0] != "." and len(part.encode()) < 255 for part in name.split("/"))
