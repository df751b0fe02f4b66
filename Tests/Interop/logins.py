"""requests-ntlm and curl with NTLM: an origin that authenticates connections, two users in turn over one proxy."""
import base64
import hmac
import os
import struct

from harness import Handler

NEEDS = "curl:curl"
PYPI = ["requests_ntlm==1.3.0"]
USERS = {"alice": "correct-horse-battery-7", "bob": "staple-wagon-candle-8"}

CLIENT = """
import os, sys, requests
from requests_ntlm import HttpNtlmAuth
url = sys.argv[1]
passwords = {"alice": os.environ["ALICE"], "bob": os.environ["BOB"]}
sessions = {}
for name in ("alice", "bob"):
    sessions[name] = requests.Session()
    sessions[name].auth = HttpNtlmAuth("LAB\\\\" + name, passwords[name])
anonymous = requests.Session()
def ask(name, path, **settings):
    session = sessions.get(name, anonymous)
    answer = session.request(settings.pop("method", "GET"), url + path, **settings)
    print(name, path, answer.status_code, answer.text.strip(), flush=True)
for turn in sys.argv[2].split(","):
    for name in turn.split("+"):
        ask(name, "/whoami")
        ask(name, f"/of/{name}", method="POST", data=f"from={name}")
ask("nobody", "/whoami")
wrong = requests.Session()
wrong.auth = HttpNtlmAuth("LAB\\\\" + sys.argv[2].split(",")[0].split("+")[0], "wrong-password-1")
sessions["wrong"] = wrong
ask("wrong", "/whoami")
"""


class NTLM(Handler):
    """Authenticates a connection, as IIS does: after the three steps its requests need no further login."""

    def setup(self):
        super().setup()
        self.user, self.challenge = None, None

    def respond(self):
        content = self.body().decode()
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme.upper() == "NTLM":
            message = base64.b64decode(token)
            kind = struct.unpack_from("<I", message, 8)[0]
            if kind == 1:
                self.user, self.challenge = None, os.urandom(8)
                return self.refuse("NTLM " + base64.b64encode(challenge_message(self.challenge)).decode())
            self.user = verified_user(message, self.challenge) if kind == 3 and self.challenge else None
            self.challenge = None
        if not self.user:
            return self.refuse("NTLM")
        if self.path == "/chunked":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in (b"hello ", self.user.encode(), b"\n"):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            return self.wfile.write(b"0\r\n\r\n")
        self.answer(200, f"you are {self.user}, {self.command} {self.path} {content}\n")

    def refuse(self, challenge):
        self.answer(401, "log in\n", WWW_Authenticate=challenge)

    do_GET = do_POST = respond


def run(lab):
    origin = lab.serve(NTLM)
    lab.environment |= {"ALICE": USERS["alice"], "BOB": USERS["bob"]}
    script = lab.write("ntlm_client.py", CLIENT)
    python = lab.tools / "bin" / "python"
    secrets = [(password, name) for name, password in USERS.items()]
    direct = lab.client([python, script, origin, "alice+bob,bob,alice"])
    lab.check(b"nobody /whoami 401" in direct.stdout and b"wrong /whoami 401" in direct.stdout and b"you are bob" in direct.stdout,
              f"the origin does not authenticate without a proxy: {direct.stdout.decode()} {direct.stderr.decode()[-300:]}")

    def look(case):
        lines = (case.folder / "recorded" / "stdout").read_text().splitlines()
        for line in lines:
            name = line.split()[0]
            if name in USERS:
                lab.check(f"200 you are {name}," in line, f"{case.name}: the recorded answer is another one's: {line!r}", case.folder)
            else:
                lab.check(" 401 " in line, f"{case.name}: a client without a login was let in: {line!r}", case.folder)
        lab.check(len(lines) >= 4, f"{case.name}: only {len(lines)} lines", case.folder)

    for name, turns in {"one": "alice", "in-turn": "alice+bob,alice+bob,bob+alice", "often": ",".join(["bob+alice", "alice+bob"] * 5)}.items():
        look(lab.record(f"requests-{name}", [python, script, origin, turns], secrets=secrets))
    at_once = f"{python} {script} {origin} alice,alice,alice >alice & first=$!\n{python} {script} {origin} bob,bob,bob >bob & wait $first; wait $!"
    case = lab.record("requests-at-once", at_once, secrets=secrets)
    for name in USERS:
        file = case.folder / "recorded" / name
        lines = file.read_text().splitlines() if file.exists() else []
        lab.check(len(lines) == 8 and all(f"200 you are {name}," in line for line in lines[:6]) and all(" 401 " in line for line in lines[6:]),
                  f"requests-at-once: {name} got {lines}", case.folder)

    curl = "curl -sS --ntlm -u {0}:{1} {2} {3}"
    for path in ("/whoami", "/chunked"):
        words = [curl.format(name, password, "", origin + path) for name, password in USERS.items()]
        lab.record(f"curl{path.replace('/', '-')}", "\n".join(words + words), secrets=secrets, expect=["alice", "bob"])
    lab.record("curl-post", curl.format("alice", USERS["alice"], "-d a=1", origin + "/form"), secrets=secrets, expect=["you are alice, POST /form a=1"])
    lab.record("curl-two-urls", curl.format("bob", USERS["bob"], "", f"{origin}/one {origin}/two"), secrets=secrets, expect=["bob, GET /one", "bob, GET /two"])
    lab.record("curl-wrong", f"curl -sS -w '%{{http_code}}\\n' --ntlm -u alice:wrong-password-1 {origin}/whoami", secrets=secrets, expect=["401"])
    lab.record("curl-anyauth", f"curl -sS --anyauth -u alice:{USERS['alice']} {origin}/whoami", secrets=secrets, expect=["you are alice"])

    # Two clients at one proxy that goes on between them, and one that never logged in.
    cassette = lab.path("shared", "tape.json")
    cassette.parent.mkdir()
    with lab.proxy("record", cassette) as proxy:
        answers = talk(lab, proxy, origin)
    lab.check(proxy.code == 0, f"shared: the recording ended with {proxy.code}", proxy.log)
    check_talk(lab, answers, "recorded", proxy.log)
    lab.replay()
    with lab.proxy("replay", cassette) as proxy:
        again = talk(lab, proxy, origin)
    lab.check(proxy.code == 0, f"shared: the replay ended with {proxy.code}", proxy.log)
    check_talk(lab, again, "replayed", proxy.log)


def talk(lab, proxy, origin):
    answers = []
    for name in ["alice", "bob", "nobody", "bob", "alice", "nobody"]:
        login = ["--ntlm", "-u", f"{name}:{USERS[name]}"] if name in USERS else []
        done = lab.client(["curl", "-sS", *login, "-w", " %{http_code}", f"{origin}/of/{name}"], http_proxy=proxy.url)
        answers.append((name, done.stdout.decode()))
    return answers


def check_talk(lab, answers, run, log):
    for name, text in answers:
        holds = f"you are {name}, GET /of/{name}" in text if name in USERS else text.endswith("401")
        lab.check(holds, f"shared: the {run} answer to {name} is {text!r}", log)


def challenge_message(challenge):
    """A Type 2 message: NTLMv2 with a target name and a list of names (MS-NLMP, 2.2.1.2)."""
    name = "LAB".encode("utf-16-le")
    names = struct.pack("<HH", 2, len(name)) + name + struct.pack("<HH", 1, len(name)) + name + struct.pack("<HH", 0, 0)
    flags = 0x00000001 | 0x00000200 | 0x00008000 | 0x00080000 | 0x00800000 | 0x00000004 | 0x00010000 | 0x02000000
    at = 56
    return (b"NTLMSSP\0" + struct.pack("<IHHII", 2, len(name), len(name), at, flags) + challenge + bytes(8)
            + struct.pack("<HHI", len(names), len(names), at + len(name)) + bytes([10, 0, 0, 0, 0, 0, 0, 15]) + name + names)


def verified_user(message, challenge):
    """The user of a Type 3 message if its proof fits this connection's challenge (MS-NLMP, 3.3.2)."""
    def field(at):
        length, _, start = struct.unpack_from("<HHI", message, at)
        return message[start:start + length]
    response, domain, user = field(20), field(28).decode("utf-16-le"), field(36).decode("utf-16-le")
    if user not in USERS or len(response) <= 24:
        return None
    key = md4(USERS[user].encode("utf-16-le"))
    key = hmac.new(key, (user.upper() + domain).encode("utf-16-le"), "md5").digest()
    proof = hmac.new(key, challenge + response[16:], "md5").digest()
    return user if hmac.compare_digest(proof, response[:16]) else None


def md4(text):
    """RFC 1320, which today's OpenSSL leaves out."""
    def rotated(value, by):
        return (value << by | value >> 32 - by) & 0xFFFFFFFF
    rounds = [(lambda x, y, z: x & y | ~x & z, 0, list(range(16)), (3, 7, 11, 19)),
              (lambda x, y, z: x & y | x & z | y & z, 0x5A827999, [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15], (3, 5, 9, 13)),
              (lambda x, y, z: x ^ y ^ z, 0x6ED9EBA1, [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15], (3, 9, 11, 15))]
    padded = text + b"\x80" + bytes((55 - len(text)) % 64) + struct.pack("<Q", len(text) * 8)
    state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
    for start in range(0, len(padded), 64):
        words = struct.unpack_from("<16I", padded, start)
        a, b, c, d = state
        for mix, constant, order, shifts in rounds:
            for step, word in enumerate(order):
                value = rotated(a + mix(b, c, d) + words[word] + constant & 0xFFFFFFFF, shifts[step % 4])
                a, b, c, d = d, value, b, c
        state = [old + new & 0xFFFFFFFF for old, new in zip(state, (a, b, c, d))]
    return struct.pack("<4I", *state)
