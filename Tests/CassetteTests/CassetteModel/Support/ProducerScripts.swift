/// Programs for Python, Node and a browser: each prints or reads bodies as JSON, with bytes in base64.
enum ProducerScripts {
    /// The fields that every producer sends, as JSON: name, filename, data in base64.
    static let fields = #"""
        [["food", null, "7J2M7Iud"], ["반려동물", null, ""], ["quote\"d", "it's \"a\".png", "iVBORw0KGgoNCg=="],
         ["pet", "사진.jpg", "DQotLQ0KLS0tLQ0K"], ["emoji", "🐶 dog.bin", "AAH/"], ["empty", "empty.txt", ""]]
        """#

    static let packages = #"""
        import asyncio, base64, io, json, sys
        import urllib3, requests, aiohttp
        fields = [(n, f, base64.b64decode(d)) for n, f, d in json.load(sys.stdin)]
        out = []
        def add(name, type, body):
            out.append({"name": name, "type": type, "body": base64.b64encode(body).decode()})
        def pairs():
            return [(n, (f, d) if f is not None else d) for n, f, d in fields]
        body, type = urllib3.encode_multipart_formdata(pairs())
        add("urllib3", type, body)
        prepared = requests.Request("POST", "http://127.0.0.1/", data=[(n, d) for n, f, d in fields if f is None],
            files=[(n, (f, d, "image/png")) for n, f, d in fields if f is not None]).prepare()
        add("requests", prepared.headers["Content-Type"], prepared.body)
        async def aio(name, **options):
            form = aiohttp.FormData(**options)
            for n, f, d in fields:
                # Quoting, it writes no name that it takes itself where the name is not ASCII.
                if not options and not n.isascii(): n = "ascii"
                form.add_field(n, io.BytesIO(d) if f is not None else d.decode(), filename=f)
            payload = form()
            class Writer:
                def __init__(self): self.body = b""
                async def write(self, chunk): self.body += bytes(chunk)
            writer = Writer()
            await payload.write(writer)
            add(name, payload.headers["Content-Type"], writer.body)
        asyncio.run(aio("aiohttp"))
        asyncio.run(aio("aiohttp without quoting", quote_fields=False))
        json.dump(out, sys.stdout)
        """#

    /// Attachments with long names, in every encoding that Python's mail library writes.
    static let mail = #"""
        import base64, email.message, email.mime.multipart, email.mime.text, email.policy, json, sys
        fields = json.load(sys.stdin)
        out = []
        def add(name, bytes):
            head, _, body = bytes.partition(b"\r\n\r\n")
            type = next(line for line in head.replace(b"\r\n ", b" ").split(b"\r\n") if line.lower().startswith(b"content-type"))
            out.append({"name": name, "type": type.split(b":", 1)[1].decode().strip(), "body": base64.b64encode(body).decode()})
        text = "음식과 반려동물에 관한 긴 글 = . " * 9 + "\n둘째 줄 \n.\n"
        for name, policy in [("mail", email.policy.SMTP), ("mail of long lines", email.policy.SMTP.clone(max_line_length=100))]:
            mail = email.message.EmailMessage(policy=policy)
            mail.set_content(text, cte="quoted-printable")
            mail.add_attachment(text, filename="아주 긴 이름을 가진 첨부 파일입니다 정말로 아주 길어요.txt", cte="base64")
            mail.add_attachment(b'{"a": 1}', maintype="application", subtype="json", filename="a.json")
            mail.add_attachment(base64.b64decode(fields[4][2]), maintype="image", subtype="png", filename="사진.png")
            add(name, mail.as_bytes())
        mail = email.mime.multipart.MIMEMultipart()
        for charset, text in [("euc-kr", "음식 " * 60), ("iso-8859-1", "é " * 60 + "\n")]:
            part = email.mime.text.MIMEText(text, "plain", charset)
            part.add_header("Content-Disposition", "attachment", filename=(charset, "", text[:2] + ".txt"))
            mail.attach(part)
        add("old mail", mail.as_bytes(policy=email.policy.compat32.clone(linesep="\r\n")))
        json.dump(out, sys.stdout)
        """#

    static let node = #"""
        const fields = JSON.parse(require("fs").readFileSync(0));
        const form = new FormData();
        for (const [name, filename, data] of fields) {
            const bytes = Buffer.from(data, "base64");
            if (filename === null) form.append(name, bytes.toString());
            else form.append(name, new Blob([bytes]), filename);
        }
        const response = new Response(form);
        response.arrayBuffer().then(body => console.log(JSON.stringify([{
            name: "node", type: response.headers.get("content-type"), body: Buffer.from(body).toString("base64"),
        }])));
        """#

    /// Starts curl against its own server on loopback, and reports the bytes that curl sent.
    static let curl = #"""
        import base64, http.server, json, os, subprocess, sys, tempfile, threading
        fields = json.load(sys.stdin)
        out = []
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                out.append({"name": sys.argv[2], "type": self.headers["Content-Type"], "body": base64.b64encode(body).decode()})
                self.send_response(204)
                self.end_headers()
            def log_message(self, *arguments): pass
        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        def quoted(text): return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        with tempfile.TemporaryDirectory() as folder:
            arguments = []
            for index, (name, filename, data) in enumerate(fields):
                path = os.path.join(folder, str(index))
                open(path, "wb").write(base64.b64decode(data))
                arguments += ["-F", name + ("=<" + path if filename is None else "=@" + path + ";filename=" + quoted(filename))]
            subprocess.run([sys.argv[1], "-q", "-s", "-S", "-H", "Expect:", *sys.argv[3:], *arguments,
                "http://127.0.0.1:%d/" % server.server_port], check=True, env={"LANG": "C.UTF-8"})
        server.shutdown()
        json.dump(out, sys.stdout)
        """#

    /// Has a headless Chromium send a form with files to a server on loopback, and reports the bytes that it sent.
    static let chromium = #"""
        import base64, http.server, json, subprocess, sys, tempfile, threading
        fields = json.load(sys.stdin)
        charset = sys.argv[2] if len(sys.argv) > 2 else "utf-8"
        page = """<!doctype html><meta charset=utf-8><form method=post enctype=multipart/form-data action=/ accept-charset=CHARSET></form><script>
        const form = document.forms[0];
        for (const [name, filename, data] of FIELDS) {
            const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));
            const input = form.appendChild(document.createElement("input"));
            input.name = name;
            if (name === "_charset_") { input.type = "hidden"; continue; }
            if (filename === null) { input.value = new TextDecoder().decode(bytes); continue; }
            const files = new DataTransfer();
            files.items.add(new File([bytes], filename, {type: "image/png"}));
            input.type = "file";
            input.files = files.files;
        }
        form.submit();
        </script>""".replace("FIELDS", json.dumps(fields)).replace("CHARSET", charset)
        out = []
        came = threading.Event()
        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, text):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
            def do_GET(self): self.answer(page.encode())
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                out.append({"name": "chromium", "type": self.headers["Content-Type"], "body": base64.b64encode(body).decode()})
                self.answer(b"")
                came.set()
            def log_message(self, *arguments): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            browser = subprocess.Popen([sys.argv[1], "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                "--disable-background-networking", "--no-proxy-server", "--user-data-dir=" + folder, "http://127.0.0.1:%d/" % server.server_port],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            came.wait(60)
            browser.terminate()
            browser.wait(20)
        server.shutdown()
        json.dump(out, sys.stdout)
        """#

    /// Reads bodies and reports the parts that each of three parsers finds in them.
    static let parsers = #"""
        import base64, io, json, sys
        import python_multipart, multipart
        from python_multipart.multipart import parse_options_header
        from werkzeug.sansio.multipart import MultipartDecoder, Field, File, Data, Epilogue, NeedData
        def text(value): return value.decode("utf-8") if isinstance(value, bytes) else value
        def werkzeug(boundary, body):
            decoder = MultipartDecoder(boundary)
            parts = []
            decoder.receive_data(body)
            decoder.receive_data(None)
            while True:
                event = decoder.next_event()
                if isinstance(event, Field): parts.append([event.name, None, b""])
                elif isinstance(event, File): parts.append([event.name, event.filename, b""])
                elif isinstance(event, Data): parts[-1][2] += event.data
                elif isinstance(event, (Epilogue, NeedData)): return parts
        def defnull(boundary, body):
            return [[p.name, p.filename, p.raw] for p in multipart.MultipartParser(io.BytesIO(body), boundary)]
        def kludex(boundary, body):
            parts = []
            def begin(): parts.append([None, None, b""]); header.clear()
            header = {}
            name = [b""]
            def field(data, start, end): name[0] += data[start:end]
            def value(data, start, end): header[name[0].lower()] = header.get(name[0].lower(), b"") + data[start:end]
            def ended(): name[0] = b""
            def headers():
                _, options = parse_options_header(header.get(b"content-disposition"))
                parts[-1][0] = text(options.get(b"name"))
                parts[-1][1] = text(options.get(b"filename"))
            def data(data, start, end): parts[-1][2] += data[start:end]
            parser = python_multipart.MultipartParser(boundary, {"on_part_begin": begin, "on_header_field": field,
                "on_header_value": value, "on_header_end": ended, "on_headers_finished": headers, "on_part_data": data})
            parser.write(body)
            parser.finalize()
            return parts
        out = []
        for item in json.load(sys.stdin):
            _, options = parse_options_header(item["type"].encode())
            boundary = options[b"boundary"]
            body = base64.b64decode(item["body"])
            found = {}
            for name, parse in [("werkzeug", lambda: werkzeug(boundary, body)), ("multipart", lambda: defnull(text(boundary), body)),
                    ("python-multipart", lambda: kludex(boundary, body))]:
                found[name] = [{"name": n, "filename": f, "data": base64.b64encode(d).decode()} for n, f, d in parse()]
            out.append(found)
        json.dump(out, sys.stdout)
        """#
}
