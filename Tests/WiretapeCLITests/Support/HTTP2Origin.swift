import Foundation
import TapeTestSupport

/// A program that serves a folder over HTTP/2 with TLS, or relays to one that does; it ends with its owner at the latest.
///
/// Serves `pets.json`, `mebibyte.bin`, and `page.html`, which requests more and shows the protocol of each.
final class HTTP2Origin {
    enum Kind: String, Sendable, CaseIterable {
        case nghttpd, nghttpx, haproxy, node, hypercorn

        /// The requirements beyond those of all tests.
        var isThere: Bool { self == .hypercorn ? PythonPackages.python != nil : Programs.isInstalled(self.rawValue) }
    }

    let certificates: TLSCertificates
    private(set) var port = 0
    private let folder: TemporaryFolder
    private var programs: [ExternalProgram] = []

    init(_ kind: Kind = .nghttpd) throws {
        self.certificates = try TLSCertificates()
        self.folder = try TemporaryFolder()
        for (name, bytes) in Self.files { try self.folder.write(bytes, to: "site/\(name)") }
        self.port = try self.start(kind)
    }

    deinit { self.stop() }

    func stop() { for program in self.programs { program.stop() } }

    func url(_ path: String) -> String { "https://localhost:\(self.port)/\(path)" }

    static let mebibyte = Array(TLSOrigins.large.prefix(1 << 20))

    private static let script = """
        fetch("pets.json").then(answer => answer.text()).then(text => {
            const out = document.getElementById("out");
            const entries = performance.getEntriesByType("navigation").concat(performance.getEntriesByType("resource"));
            const seen = entries.map(entry => new URL(entry.name).pathname + " " + entry.nextHopProtocol).sort().join(", ");
            out.textContent = text + getComputedStyle(out).color + ": " + seen;
        });
        """

    private static let files: [(String, [UInt8])] = [
        ("pets.json", Array(Nginx.pets.utf8)),
        ("mebibyte.bin", HTTP2Origin.mebibyte),
        (
            "page.html",
            Array(
                "<!DOCTYPE html><link rel=icon href=data:,><link rel=stylesheet href=style.css><p id=out></p><script src=script.js></script>"
                    .utf8)
        ),
        ("style.css", Array("p { color: rgb(1, 2, 3) }".utf8)),
        ("script.js", Array(HTTP2Origin.script.utf8)),
    ]

    // MARK: Programs

    private func start(_ kind: Kind) throws -> Int {
        let (key, certificate) = (self.certificates.key("good"), self.certificates.certificate("good"))
        let site = self.folder.file("site")
        switch kind {
        case .nghttpd: return try self.nghttpd([key, certificate])
        case .nghttpx:
            let origin = try self.nghttpd(nil)
            return try self.listening("nghttpx") {
                Self.nghttpx("127.0.0.1,\($0)", backend: "127.0.0.1,\(origin)") + [key, certificate]
            }
        case .haproxy:
            let origin = try self.nghttpd(nil)
            let pair = try self.folder.write(TemporaryFolder.contents(certificate) + TemporaryFolder.contents(key), to: "pair.pem")
            return try self.listening("haproxy") {
                try Self.haproxy(self.folder, bind: "127.0.0.1:\($0) ssl crt \(pair) alpn h2", server: "127.0.0.1:\(origin) proto h2")
            }
        case .node: return try self.printing(try Programs.find("node"), [Programs.fixture("h2_peer.js"), "serve", certificate, key, site])
        case .hypercorn:
            guard let python = PythonPackages.python else { throw TestProblem("hypercorn is not there") }
            return try self.printing(python, [Programs.fixture("h2_peer.py"), "serve", certificate, key, site])
        }
    }

    /// - Parameter tls: the key and the certificate; without them, clients use prior knowledge.
    private func nghttpd(_ tls: [String]?) throws -> Int {
        try self.listening("nghttpd") {
            ["-a", "127.0.0.1", "-d", self.folder.file("site"), "--trailer", "x-end: yes"] + (tls == nil ? ["--no-tls"] : []) + ["\($0)"]
                + (tls ?? [])
        }
    }

    private func printing(_ path: String, _ arguments: [String]) throws -> Int {
        let program = try ExternalProgram(path, arguments)
        self.programs.append(program)
        return try program.port()
    }

    private func listening(_ name: String, _ arguments: (_ port: Int) throws -> [String]) throws -> Int {
        let (program, port) = try Self.listening(name, arguments)
        self.programs.append(program)
        return port
    }

    /// A program that gets its port as an argument; another process may take the port before the program binds it.
    static func listening(_ name: String, _ arguments: (_ port: Int) throws -> [String]) throws -> (program: ExternalProgram, port: Int) {
        for _ in 1...5 {
            let port = try FreePorts.take(1)[0]
            let program = try ExternalProgram(try Programs.find(name), try arguments(port))
            let listens: Bool? = try Deadline.wait(for: name) {
                if program.hasEnded { return false }
                return (try? RawClient.exchange(port: port, Array("GET / HTTP/1.0\r\n\r\n".utf8))) == nil ? nil : true
            }
            if listens == true { return (program, port) }
            program.stop()
        }
        throw TestProblem("\"\(name)\" does not start")
    }

    /// Relays to a backend with prior knowledge.
    static func nghttpx(_ frontend: String, backend: String) -> [String] {
        [
            "--conf=/dev/null", "--workers=1", "--single-process", "--log-level=ERROR", "--frontend=\(frontend)",
            "--backend=\(backend);;proto=h2",
        ]
    }

    static func haproxy(_ folder: TemporaryFolder, bind: String, server: String, rules: String = "") throws -> [String] {
        let text = """
            defaults
              mode http
              timeout client 20s
              timeout server 20s
              timeout connect 5s
            frontend front
              bind \(bind)
              \(rules)
              default_backend origin
            backend origin
              server origin \(server)

            """
        return ["-db", "-f", try folder.write(text.utf8, to: "haproxy.cfg")]
    }
}
