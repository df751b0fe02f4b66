import Foundation

/// A server on loopback that answers every request with what arrived, as JSON. Ends with the last reference to it.
final class EchoServer {
    struct Arrived: Decodable {
        let method: String
        let target: String
        let headers: [[String]]
        private let body: Data

        var octets: [UInt8] { [UInt8](self.body) }

        func values(_ name: String) -> [String] {
            self.headers.filter { $0.first?.lowercased() == name.lowercased() }.compactMap(\.last)
        }
    }

    /// `http://127.0.0.1:PORT`
    let url: String
    private let process = Process()
    private let input = Pipe()

    init() throws {
        self.process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        self.process.arguments = ["python3", "-c", Self.script]
        let output = Pipe()
        self.process.standardOutput = output
        self.process.standardInput = self.input
        try self.process.run()
        var line = Data()
        while let octet = try output.fileHandleForReading.read(upToCount: 1), octet != Data([10]) { line += octet }
        self.url = "http://127.0.0.1:\(String(decoding: line, as: UTF8.self))"
    }

    deinit {
        self.process.terminate()
        self.process.waitUntilExit()
    }

    /// What a command sent here, with the status line of HEAD in front.
    func arrived(_ run: ShellRun) throws -> Arrived {
        var data = run.output
        // The answer to HEAD has it in a field.
        if data.starts(with: Data("HTTP/".utf8)) {
            let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
            data = Data(base64Encoded: String(lines.first { $0.hasPrefix("X-Echo: ") }?.dropFirst(8) ?? "")) ?? Data()
        }
        return try JSONDecoder().decode(Arrived.self, from: data)
    }

    private static let script = """
        import base64, http.server, json, sys, threading
        class Echo(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def __getattr__(self, name):
                if name.startswith("do_"):
                    return self.echo
                raise AttributeError(name)
            def log_message(self, *_):
                pass
            def echo(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                arrived = {"method": self.command, "target": self.path, "headers": [list(field) for field in self.headers.items()],
                           "body": base64.b64encode(body).decode()}
                text = json.dumps(arrived).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                if self.command == "HEAD":
                    self.send_header("X-Echo", base64.b64encode(text).decode())
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(text)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
        print(server.server_port, flush=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        """
}
