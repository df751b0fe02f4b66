"""Two dozen pairs of recordings by real clients: `wiretape suggest` proposes what a person would write, both runs hit with it, and another request misses."""
import json
import re
import shlex
import subprocess

from harness import Handler

NEEDS = "curl:curl node:nodejs"
PYPI = ["aiohttp==3.14.5", "Authlib==1.9.10", "anthropic==2.14.0", "boto3==1.44.8", "google-genai==3.6.1", "gql==4.4.0", "httpx==0.28.1", "msgpack==1.1.0", "ollama==0.6.3",
        "openai==3.57.0", "requests==2.34.2", "requests-oauthlib==2.0.0", "zeep==4.3.3"]
BOUND = 1800

# Run 2 is the same with values of its own, and run 3 asks for something else besides.
PRELUDE = """
import datetime, json, os, random, sys, uuid
URL, RUN = sys.argv[1], int(sys.argv[2])
OTHER, NAME = RUN > 1, "dog" if RUN == 3 else "cat"
NOW = datetime.datetime(2026, 10 + RUN % 2, 11 + RUN, 10, 20, 30 + RUN, 123456 * RUN, tzinfo=datetime.timezone.utc)
dice = random.Random(RUN)
def fresh(): return str(uuid.UUID(int=dice.getrandbits(128), version=4))
def post(path, **arguments):
    import requests
    print(requests.post(URL + path, **arguments).text)
"""

# Each pair: the client, and the rules as a person writes them: the option, the place, and texts that a pattern must not match.
PAIRS = {
    "query-time": ("""
import requests
print(requests.get(URL + "/pets", params={"name": NAME, "ts": int(NOW.timestamp())}).text)
""", [("--pattern", "query:ts", ["", "cat", "12"])]),
    "json-id": ("""
post("/pets", json={"name": NAME, "requestId": fresh()})
""", [("--pattern", "json:/requestId", ["", "cat", "1"])]),
    "json-nested": ("""
post("/pets", json={"items": [{"name": NAME, "meta": {"trace": fresh()}}, {"name": "bird", "meta": {"trace": fresh()}}]})
""", [("--pattern", "json:/items/*/meta/trace", ["", "cat"])]),
    "form-nonce": ("""
post("/pets", data={"name": NAME, "nonce": fresh().replace("-", "")})
""", [("--pattern", "form:nonce", ["", "cat"])]),
    "upload": ("""
post("/photos", files={"photo": (fresh() + ".jpg", b"\\xff\\xd8\\xff\\xe0" + NAME.encode() * 50, "image/jpeg"), "sent": (None, NOW.isoformat())})
""", [("--pattern", "filename:photo", ["", "cat.jpg"]), ("--pattern", "part:sent", ["", "cat"])]),
    "path-id": ("""
import aiohttp, asyncio
async def main():
    async with aiohttp.ClientSession(trust_env=True) as session:
        async with session.put(f"{URL}/orders/{fresh()}/items", json={"name": NAME}) as answer:
            print(await answer.text())
asyncio.run(main())
""", [("--pattern", "path", ["/orders/cat/items", "/orders"])]),
    "httpx-trace": ("""
import httpx
print(httpx.post(URL + "/pets", json={"name": NAME}, headers={"X-Request-Id": fresh(), "Idempotency-Key": fresh()}).text)
""", []),
    "soap": ("""
import zeep
from zeep.wsse import utils
from zeep.wsse.username import UsernameToken
stamp = utils.WSU.Timestamp()
stamp.append(utils.WSU.Created(NOW.strftime("%Y-%m-%dT%H:%M:%SZ")))
client = zeep.Client(sys.argv[3], wsse=UsernameToken("alice", "hunter2hunter2", timestamp_token=stamp))
service = client.create_service("{urn:rates}RatesBinding", URL + "/rates")
print(service.Rate(currency={"cat": "EUR", "dog": "USD"}[NAME]))
""", [("--pattern", "xml:/Envelope/Header/Security/Timestamp/Created", ["", "cat"])]),
    "secrets-manager": ("""
import boto3
client = boto3.client("secretsmanager", endpoint_url=URL, region_name="us-east-1")
print(client.create_secret(Name=f"app/{NAME}", SecretString="{}")["VersionId"])
""", [("--pattern", "json:/ClientRequestToken", ["", "cat"])]),
    "dynamodb": ("""
import boto3
client = boto3.client("dynamodb", endpoint_url=URL, region_name="us-east-1")
client.put_item(TableName="pets", Item={"name": {"S": NAME}, "id": {"S": fresh()}, "at": {"S": NOW.isoformat()}})
print("put")
""", [("--pattern", "json:/Item/id/S", ["", "cat"]), ("--pattern", "json:/Item/at/S", ["", "cat"])]),
    "oauth2-code": ("""
from authlib.integrations.requests_client import OAuth2Session
client = OAuth2Session("app", redirect_uri="https://app.test/back", scope=f"read:{NAME}", code_challenge_method="S256")
verifier = fresh() + fresh()
url, state = client.create_authorization_url(URL + "/authorize", code_verifier=verifier)
import requests
print(requests.get(url).text)
""", [("--pattern", "query:state", ["", "cat"]), ("--pattern", "query:code_challenge", ["", "cat"])]),
    "oauth1-query": ("""
from requests_oauthlib import OAuth1Session
# The runs follow each other within a second.
client = OAuth1Session("consumer", client_secret="secret", signature_type="query", timestamp=str(int(NOW.timestamp())))
print(client.get(URL + "/pets", params={"name": NAME}).text)
""", [("--pattern", "query:oauth_nonce", ["", "cat"]), ("--pattern", "query:oauth_timestamp", ["", "cat"])]),
    "openai": ("""
import openai
client = openai.OpenAI(base_url=URL + "/v1", api_key="sk-test-0123456789abcdef0123456789", max_retries=0)
names = ["weather", "search", "clock"]
if OTHER: names.reverse()
call = "call_" + fresh().replace("-", "")[:24]
answer = client.chat.completions.create(model="gpt-5", user=f"user-{RUN}",
    messages=[{"role": "system", "content": f"You are an agent. Today is {NOW.date()}. Answer in one sentence."}, {"role": "user", "content": f"Feed the {NAME}."},
        {"role": "assistant", "tool_calls": [{"id": call, "type": "function", "function": {"name": "clock", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": call, "content": "noon"}],
    tools=[{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in names])
print(answer.choices[0].message.content)
""", [("--pattern", "json:/messages/2/tool_calls/0/id", ["", "cat"]), ("--pattern", "json:/messages/3/tool_call_id", ["", "cat"]), ("--replace", "json:/messages/0/content", []),
      ("--sort", "json:/tools", []), ("--pattern", "json:/user", ["", "cat"])]),
    "anthropic": ("""
import anthropic
client = anthropic.Anthropic(base_url=URL, api_key="sk-ant-REDACTED", max_retries=0)
call = "toolu_" + fresh().replace("-", "")[:24]
answer = client.messages.create(model="claude-sonnet", max_tokens=100, system=f"You are an agent. Today is {NOW.date()}.", metadata={"user_id": fresh()},
    messages=[{"role": "user", "content": f"Feed the {NAME}."}, {"role": "assistant", "content": [{"type": "tool_use", "id": call, "name": "clock", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "noon"}]}])
print(answer.content[0].text)
""", [("--pattern", "json:/messages/1/content/0/id", ["", "cat"]), ("--pattern", "json:/messages/2/content/0/tool_use_id", ["", "cat"]), ("--replace", "json:/system", []),
      ("--pattern", "json:/metadata/user_id", ["", "cat"])]),
    "gemini": ("""
from google import genai
client = genai.Client(api_key="AIzaSyA0123456789abcdefghijklmnopqrstuv", http_options={"base_url": URL})
print(client.models.generate_content(model="gemini-2.5-flash", contents=f"Feed the {NAME}.", config={"system_instruction": f"Today is {NOW.date()}. Be brief."}).text)
""", [("--replace", "json:/systemInstruction/parts/0/text", [])]),
    "ollama": ("""
import ollama
client = ollama.Client(host=URL)
names = ["weather", "search"]
if OTHER: names.reverse()
tools = [{"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object", "properties": {}}}} for name in names]
print(client.chat(model="qwen3", messages=[{"role": "user", "content": f"Feed the {NAME}."}], tools=tools)["message"]["content"])
""", [("--sort", "json:/tools", [])]),
    "bulk": ("""
lines = []
for number in range(3):
    lines += [{"index": {"_index": "events", "_id": fresh()}}, {"@timestamp": NOW.isoformat(), "message": f"{NAME} {number}"}]
post("/_bulk", data="".join(json.dumps(line) + "\\n" for line in lines), headers={"Content-Type": "application/x-ndjson"})
""", [("--pattern", "json:/*/index/_id", ["", "cat"]), ("--pattern", "json:/*/@timestamp", ["", "cat"])]),
    "graphql": ("""
from gql import Client, gql
from gql.transport.requests import RequestsHTTPTransport
client = Client(transport=RequestsHTTPTransport(url=URL + "/graphql"))
print(client.execute(gql("mutation Add($input: PetInput!) { add(input: $input) { id } }"), variable_values={"input": {"name": NAME, "clientMutationId": fresh()}}))
""", [("--pattern", "json:/variables/input/clientMutationId", ["", "cat"])]),
    "msgpack": ("""
import msgpack
post("/pets", data=msgpack.packb({"name": NAME, "id": fresh()}), headers={"Content-Type": "application/msgpack"})
""", [("--pattern", "json:/id", ["", "cat"])]),
    "json-rpc": ("""
import requests
first = 4100 + RUN
batch = [{"jsonrpc": "2.0", "id": first + number, "method": "feed", "params": {"name": NAME, "portion": number}} for number in range(3)]
print([sorted(answer) for answer in requests.post(URL + "/rpc", json=batch).json()])
""", [("--pattern", "json:/*/id", ['"cat"'])]),
    "optional": ("""
body = {"name": NAME}
if OTHER: body["metadata"] = {"client": "1.2"}
post("/pets", json=body)
""", [("--optional", "json:/metadata", [])]),
    "string-in-string": ("""
post("/events", json={"name": NAME, "payload": json.dumps({"id": fresh(), "kind": "fed"})})
""", [("--pattern", "json:/payload|json:/id", ["", "cat"])]),
    "text": ("""
post("/pets", json={"name": NAME, "note": f"{NAME} fed at {NOW.isoformat()} by job {fresh()}"})
""", [("--replace", "json:/note", []), ("--replace", "json:/note", [])]),
}

# A client that is no Python script.
NODE = """
const [url, run] = process.argv.slice(2), name = run === "3" ? "dog" : "cat";
const http = require("http"), proxy = new URL(process.env.http_proxy);
const body = JSON.stringify({ name, sentAt: 1764000000000 + Number(run) * 86400123, cart: { ref: require("crypto").randomUUID() } });
const request = http.request({ host: proxy.hostname, port: proxy.port, method: "POST", path: url + "/carts", headers: { Host: new URL(url).host, "Content-Type": "application/json", "Content-Length": body.length } },
    answer => answer.on("data", data => process.stdout.write(data)));
request.end(body);
"""
NODE_RULES = [("--pattern", "json:/sentAt", ["1", '"cat"']), ("--pattern", "json:/cart/ref", ["", "cat"])]

WSDL = """<?xml version="1.0"?>
<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:t="urn:rates"
    xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:rates">
  <types><xs:schema targetNamespace="urn:rates" elementFormDefault="qualified">
    <xs:element name="Rate"><xs:complexType><xs:sequence><xs:element name="currency" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="RateResponse"><xs:complexType><xs:sequence><xs:element name="rate" type="xs:decimal"/></xs:sequence></xs:complexType></xs:element>
  </xs:schema></types>
  <message name="In"><part name="body" element="t:Rate"/></message><message name="Out"><part name="body" element="t:RateResponse"/></message>
  <portType name="Rates"><operation name="Rate"><input message="t:In"/><output message="t:Out"/></operation></portType>
  <binding name="RatesBinding" type="t:Rates"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Rate"><soap:operation soapAction="urn:rates#Rate"/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
</definitions>
"""


RATE = '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><RateResponse xmlns="urn:rates"><rate>1.25</rate></RateResponse></e:Body></e:Envelope>'


class Origin(Handler):
    """Answers each kind of request as its service does."""

    def do_GET(self):
        self.do_POST()

    def do_PUT(self):
        self.do_POST()

    def do_POST(self):
        body = self.body()
        path = self.path.split("?")[0]
        if path == "/rates":
            return self.answer(200, RATE, "text/xml")
        if path == "/rpc":
            answer = [{"jsonrpc": "2.0", "id": call["id"], "result": call["params"]["portion"]} for call in json.loads(body)]
        elif path == "/graphql":
            answer = {"data": {"add": {"id": "1"}}}
        elif path == "/v1/chat/completions":
            answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "fed"}}]}
        elif path == "/v1/messages":
            answer = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet", "content": [{"type": "text", "text": "fed"}], "stop_reason": "end_turn",
                      "usage": {"input_tokens": 1, "output_tokens": 1}}
        elif path.endswith(":generateContent"):
            answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "fed"}]}, "finishReason": "STOP"}]}
        elif path == "/api/chat":
            answer = {"model": "qwen3", "created_at": "2026-11-29T10:00:00Z", "done": True, "message": {"role": "assistant", "content": "fed"}}
        else:
            answer = {"VersionId": "v-1", "took": 3, "size": len(body)}
        return self.answer(200, json.dumps(answer), "application/json")


def option(line):
    """An option of a suggestion: its name, its place, and the rest."""
    words = shlex.split(line.split("  ", 1)[1])
    if len(words) != 2:
        return line, "", ""
    if words[0] == "--pattern" or words[0] == "--replace":
        place, _, rest = words[1].partition("=")
        return words[0], place, rest
    return words[0], words[1], ""


def run(lab):
    origin = lab.serve(Origin)
    python, wsdl = lab.tools / "bin" / "python", lab.write("rates.wsdl", WSDL)
    environment = lab.environment | {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_EC2_METADATA_DISABLED": "true"}
    clients = {name: ([python, lab.write(f"pair_{name}.py", PRELUDE + text)], rules) for name, (text, rules) in PAIRS.items()}
    clients["node"] = (["node", lab.write("client.js", NODE)], NODE_RULES)

    def wiretape(*words):
        return subprocess.run([str(word) for word in (lab.wiretape, *words)], env=environment, cwd=lab.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False, text=True)

    def start(verb, name, tape, number):
        return wiretape(verb, lab.path(f"{name}.{tape}.json"), "--", *clients[name][0], origin, number, wsdl)

    recorded = {name: [start("record", name, number, number) for number in (1, 2)] for name in clients}
    lab.stop_origins()
    for name, (_, rules) in clients.items():
        runs = recorded[name]
        if not all(lab.check(done.returncode == 0 and done.stdout.strip(), f"{name}: the recording ended with {done.returncode}: {done.stderr[-400:]}") for done in runs):
            continue
        found = wiretape("suggest", lab.path(f"{name}.1.json"), lab.path(f"{name}.2.json"), "--write")
        log = lab.write(f"{name}.suggest.log", found.stdout + found.stderr)
        lines = [line for line in found.stdout.splitlines() if re.match(r"[0-9]+  --", line)]
        print(f"  {name}: {' '.join(line.split('  ', 1)[1] for line in lines) or 'no rule'}", flush=True)
        lab.check(found.returncode == (1 if rules else 0), f"{name}: suggest ends with {found.returncode}", log)
        options = [option(line) for line in lines]
        lab.check(sorted(found[:2] for found in options) == sorted(rule[:2] for rule in rules), f"{name}: the suggestions are {options}, by hand they are {rules}", log)
        lab.check("no rule:" not in found.stdout and "also makes" not in found.stdout, f"{name}: a difference has no rule, or a rule makes other requests equal", log)
        for kind, place, foreign in rules:
            for _, _, pattern in [one for one in options if one[:2] == (kind, place) and kind == "--pattern"]:
                lab.check(not any(re.fullmatch(pattern, text) for text in foreign), f"{name}: {pattern} is wider than needed", log)
        for number, code in ((1, 0), (2, 0), (3, 3)):
            replay = start("replay", name, 1, number)
            log = lab.write(f"{name}.replay-{number}.log", replay.stdout + replay.stderr)
            lab.check((replay.returncode == 0) == (code == 0) and (code == 0 or "wiretape: miss:" in replay.stderr), f"{name}: run {number} ends with {replay.returncode}", log)
            if code == 0:
                lab.check(replay.stdout == runs[0].stdout, f"{name}: run {number} prints {replay.stdout!r} instead of {runs[0].stdout!r}", log)
