import Foundation
import Testing
import TapeTestSupport

/// Real clients after `--` trust the recorder without further settings: recorded over HTTPS, and replayed without an origin.
@Suite struct TrustTests {
    struct Client: Sendable, CustomTestStringConvertible {
        var program: String
        /// Without the URL, which is appended.
        var arguments: [String]
        /// A Python module that it needs.
        var module: String?

        var testDescription: String { [self.program, self.module].compactMap(\.self).joined(separator: " ") }

        var isInstalled: Bool {
            guard Programs.isInstalled(self.program) else { return false }
            guard let module else { return true }
            return (try? ExternalProgram.run(Programs.find(self.program), ["-c", "import \(module)"]).status) == 0
        }

        var command: [String] { [self.program] + self.arguments }
    }

    private static let java = """
        import java.net.*; import java.net.http.*;
        public class Client { public static void main(String[] urls) throws Exception {
          System.out.print(HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(URI.create(urls[0])).build(), HttpResponse.BodyHandlers.ofString()).body()); } }
        """

    /// URLSession, Node before 24 and git are missing here: they read no variable, or need more than one request.
    private static let clients = [
        Client(program: "curl", arguments: ["-q", "--silent", "--show-error"]),
        Client(program: "wget", arguments: ["--quiet", "--output-document=-"]),
        Client(
            program: "python3", arguments: ["-c", "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode(), end='')"]),
        Client(
            program: "python3", arguments: ["-c", "import sys, requests; print(requests.get(sys.argv[1]).text, end='')"], module: "requests"
        ),
        Client(program: "python3", arguments: ["-c", "import sys, httpx; print(httpx.get(sys.argv[1]).text, end='')"], module: "httpx"),
        Client(program: "perl", arguments: ["-MLWP::UserAgent", "-e", "print LWP::UserAgent->new->get($ARGV[0])->decoded_content"]),
    ]

    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func record(_ command: [String], _ origins: TLSOrigins, _ options: [String] = []) throws -> ExternalProgram.Ended {
        try Wiretape.run(
            [
                "record", self.folder.file("tape.json"), "--ca-dir", self.folder.file("my ca"), "--upstream-ca",
                origins.certificates.authority,
            ]
                + options + ["--"] + command)
    }

    private func replay(_ command: [String], _ options: [String] = []) throws -> ExternalProgram.Ended {
        try Wiretape.run(["replay", self.folder.file("tape.json"), "--ca-dir", self.folder.file("my ca")] + options + ["--"] + command)
    }

    @Test func clientsTrustTheRecorderAndTheReplayer() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        var clients = Self.clients.filter { $0.program == "perl" ? Self.perlHasHTTPS : $0.isInstalled }
        if Programs.isInstalled("java") {
            clients.append(Client(program: "java", arguments: [try self.folder.write(Self.java.utf8, to: "Client.java")]))
        }
        for client in clients {
            let command = client.command + [origins.url(.good)]
            let recorded = try self.record(command, origins)
            #expect(recorded.status == 0 && recorded.outputText == Nginx.pets, "\(client.testDescription): \(recorded.errors)")
            #expect(recorded.errors.contains("recorded 1 exchange "), "\(client.testDescription): \(recorded.errors)")
            let replayed = try self.replay(command)
            #expect(replayed.status == 0 && replayed.output == recorded.output, "\(client.testDescription): \(replayed.errors)")
        }
        #expect(clients.count >= 2)
    }

    private static let perlHasHTTPS =
        (try? ExternalProgram.run(Programs.find("perl"), ["-MLWP::UserAgent", "-MLWP::Protocol::https", "-e", "1"]).status) == 0

    @Test func clientWithoutTheVariablesDoesNotTrustAndIsReported() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let bare = ["env", "-u", "SSL_CERT_FILE", "-u", "CURL_CA_BUNDLE", "curl", "-q", "--silent", origins.url(.good)]
        let end = try self.record(bare, origins, ["--trust", "env"])
        #expect(end.status == 60, "\(end.errors)")
        #expect(end.errors.contains("1 TLS handshake failed"), "\(end.errors)")
    }

    #if os(Linux)
    @Test(.enabled(if: Namespaces.arePermitted && FileManager.default.fileExists(atPath: "/etc/ssl/certs/ca-certificates.crt")))
    func aNamespaceIsForClientsThatReadNoVariable() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let bare = ["env", "-u", "SSL_CERT_FILE", "-u", "CURL_CA_BUNDLE", "curl", "-q", "--silent", origins.url(.good)]
        let recorded = try self.record(bare, origins, ["--trust", "namespace"])
        #expect(recorded.status == 0 && recorded.outputText == Nginx.pets, "\(recorded.errors)")
        let replayed = try self.replay(bare, ["--trust", "namespace"])
        #expect(replayed.status == 0 && replayed.outputText == Nginx.pets, "\(replayed.errors)")
        let own = "trap 'exit 7' TERM; kill -TERM $$; exit 1"
        #expect(try self.replay(["sh", "-c", own], ["--trust", "namespace"]).status == 7)
    }
    #endif

    @Test func theFirstRunSaysThatAnAuthorityWasMadeAndOthersDoNot() throws {
        let said = "created a certificate authority in \"\(self.folder.file("my ca"))/ca-cert.pem\""
        for isFirst in [true, false] {
            let end = try Wiretape.run(["record", self.folder.file("tape.json"), "--ca-dir", self.folder.file("my ca"), "--", "true"])
            #expect(end.status == 0 && end.errors.contains(said) == isFirst, "\(end.errors)")
        }
    }

    @Test func manyFirstRunsAtOnceTrustOneAuthority() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let programs = try (0..<4).map { number in
            try Wiretape.start(
                ["record", self.folder.file("\(number).json"), "--ca-dir", self.folder.file("my ca")]
                    + ["--upstream-ca", origins.certificates.authority, "--"] + Curl.get(origins.url(.good)))
        }
        defer { for program in programs { program.stop() } }
        for program in programs {
            let end = try program.wait()
            #expect(end.status == 0 && end.outputText == Nginx.pets, "\(end.errors)")
        }
        #expect(try self.folder.names(in: "my ca") == ["ca-cert.pem", "ca-key.pem", "trust"])
        let made = try self.folder.names(in: "my ca/trust").map { $0.prefix { $0 != "-" } }
        #expect(made == ["bundle", "cacerts", "holder", "java", "php", "root", "wgetrc"])
    }
}
