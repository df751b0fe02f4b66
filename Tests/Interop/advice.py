"""boto3, zeep and requests with values that are new in each run: the rules that a miss proposes make the replay hit."""
import http.server
import json
import re
import subprocess

NEEDS = "curl:curl"
PYPI = ["boto3==1.44.8", "requests==2.34.2", "zeep==4.3.3"]
BOUND = 600

# Every miss proposes rules for one request; more rounds than places differ would not end.
ROUNDS = 12

PRELUDE = """
import json, sys, time, uuid, datetime
URL, RUN = sys.argv[1], int(sys.argv[2])
NOW = datetime.datetime(2026, 3, 1 + RUN, 10, 20, 30 + RUN, tzinfo=datetime.timezone.utc)
def fresh(): return str(uuid.uuid4())
def post(path, body, **headers):
    import requests
    answer = requests.post(URL + path, data=body, headers={name.replace("_", "-"): value for name, value in headers.items()})
    print(answer.status_code, answer.text)
"""

CLIENTS = {
    # ClientRequestToken is a UUID that boto3 makes for each call.
    "create-secret": """
import boto3
from botocore.config import Config
client = boto3.client("secretsmanager", endpoint_url=URL, region_name="us-east-1", config=Config(retries={"max_attempts": 1}))
answer = client.create_secret(Name="app/database", Description="of the tests", SecretString=json.dumps({"user": "app", "password": "hunter2-%d" % RUN}))
print(answer["Name"], answer["VersionId"])
""",
    "bulk": """
lines = []
for number in range(3):
    lines.append({"index": {"_index": "events", "_id": fresh()}})
    lines.append({"@timestamp": NOW.isoformat(), "level": "info", "message": "event %d" % number})
post("/_bulk", "".join(json.dumps(line) + "\\n" for line in lines), Content_Type="application/x-ndjson")
""",
    "google-batch": """
boundary = "===============%d==" % (7000000000000000000 + RUN)
def part(number, method, path, body):
    text = json.dumps(body)
    return "\\r\\n".join(["--" + boundary, "Content-Type: application/http", "MIME-Version: 1.0", "Content-ID: <%s + %d>" % (fresh(), number), "",
        "%s %s HTTP/1.1" % (method, path), "Content-Type: application/json", "MIME-Version: 1.0", "accept: application/json", "Content-Length: %d" % len(text), "", text, ""])
body = part(1, "POST", "/calendar/v3/calendars/c/events", {"summary": "one", "requestId": fresh()})
body += part(2, "POST", "/calendar/v3/calendars/c/events", {"summary": "two", "requestId": fresh()}) + "--" + boundary + "--\\r\\n"
post("/batch/calendar/v3", body, Content_Type='multipart/mixed; boundary="%s"' % boundary)
""",
    "odata-batch": """
batch, changes = "batch_" + fresh(), "changeset_" + fresh()
inner = json.dumps({"name": "Contoso", "modifiedon": NOW.isoformat(), "correlationid": fresh()})
body = "\\r\\n".join(["--" + batch, "Content-Type: multipart/mixed; boundary=" + changes, "", "--" + changes, "Content-Type: application/http",
    "Content-Transfer-Encoding: binary", "Content-ID: 1", "", "POST /api/data/v9.2/accounts HTTP/1.1", "Content-Type: application/json", "", inner,
    "--" + changes + "--", "", "--" + batch, "Content-Type: application/http", "Content-Transfer-Encoding: binary", "",
    "GET /api/data/v9.2/accounts?$top=1 HTTP/1.1", "Accept: application/json", "", "", "--" + batch + "--", ""])
post("/api/data/v9.2/$batch", body, Content_Type="multipart/mixed; boundary=" + batch, OData_Version="4.0")
""",
    # UsernameToken with a digest has a nonce, the time of creation and a digest of both; zeep adds a timestamp.
    "soap": """
import zeep
from zeep.wsse.username import UsernameToken
from zeep.wsse import utils
stamp = utils.WSU.Timestamp()
stamp.append(utils.WSU.Created(NOW.isoformat()))
stamp.append(utils.WSU.Expires((NOW + datetime.timedelta(minutes=5)).isoformat()))
client = zeep.Client(sys.argv[3], wsse=UsernameToken("alice", "hunter2hunter2", use_digest=True, timestamp_token=stamp))
service = client.create_service("{urn:rates}RatesBinding", URL + "/rates")
print(service.Rate(currency="EUR"))
""",
}

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


class Origin(http.server.BaseHTTPRequestHandler):
    """Answers each kind of request as its service does."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("X-Amz-Target", "").endswith("CreateSecret"):
            order = json.loads(body)
            self.answer("application/x-amz-json-1.1", json.dumps({"ARN": "arn:aws:secretsmanager:us-east-1:1:secret:a", "Name": order["Name"], "VersionId": "v-1"}))
        elif self.path == "/_bulk":
            self.answer("application/json", json.dumps({"took": 3, "errors": False, "items": [{"index": {"status": 201}}] * (body.count(b"\n") // 2)}))
        elif self.path == "/rates":
            self.answer("text/xml", '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><RateResponse xmlns="urn:rates"><rate>1.25</rate></RateResponse></e:Body></e:Envelope>')
        else:
            self.answer("multipart/mixed; boundary=answer", "--answer\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}\r\n--answer--\r\n")

    def answer(self, kind, text):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def run(lab):
    origin = lab.serve(Origin)
    wsdl = lab.write("rates.wsdl", WSDL)
    scripts = {name: lab.write(f"{name}.py", PRELUDE + text) for name, text in CLIENTS.items()}
    environment = lab.environment | {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}

    def wiretape(verb, name, number, options=()):
        command = [lab.wiretape, verb, lab.path(f"{name}.tape.json"), *options, "--", lab.tools / "bin" / "python", scripts[name], origin, number, wsdl]
        return subprocess.run([str(word) for word in command], env=environment, cwd=lab.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False, text=True)

    recorded = {name: wiretape("record", name, 1) for name in CLIENTS}
    lab.stop_origins()
    for name, record in recorded.items():
        if not lab.check(record.returncode == 0 and record.stdout.strip(), f"{name}: the recording ended with {record.returncode}: {record.stderr[-400:]}"):
            continue
        options = []
        for _ in range(ROUNDS):
            replay = wiretape("replay", name, 2, options)
            advice = "\n".join(re.findall(r"^to match it with exchange \d+: (.*)", replay.stderr, re.MULTILINE))
            places = dict.fromkeys(place.strip("'") for place in re.findall(r"--ignore ('[^']*'|\S+)", advice))
            proposed = [place for place in places if place not in options]
            if replay.returncode == 0 or not proposed:
                break
            for place in proposed:
                options += ["--ignore", place]
        log = lab.write(f"{name}.replay.log", replay.stderr)
        print(f"  {name}: {' '.join(options) or 'no rule is needed'}", flush=True)
        lab.check(replay.returncode == 0, f"{name}: the replay ends with {replay.returncode} after the rules {options}", log)
        lab.check(replay.stdout == record.stdout, f"{name}: the replay prints {replay.stdout!r} instead of {record.stdout!r}", log)
        lab.check("body" not in options, f"{name}: no smaller place than the body was found", log)
        # A request that differs in more than the proposed places is a miss.
        changed = scripts[name].read_text().replace("app/database", "app/other").replace('"event %d"', '"another %d"').replace('"one"', '"three"')
        scripts[name].write_text(changed.replace('"Contoso"', '"Fabrikam"').replace('"EUR"', '"USD"'))
        lab.check(wiretape("replay", name, 3, options).returncode != 0, f"{name}: another request is answered as well", log)
