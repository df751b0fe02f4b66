#if os(Linux)
import Foundation
import TapeTestSupport
import Testing

/// Programs in a network of their own, on a machine without routes: nothing leaves it, even if the isolation fails.
@Suite struct IsolationTests {
    /// A machine in a namespace: wiretape in it isolates its program once more.
    private static func onMachine(_ folder: TemporaryFolder, _ command: [String]) throws -> ExternalProgram.Ended {
        let options = ["--user", "--map-root-user", "--mount", "--net", "python3", Programs.fixture("isolated.py"), folder.path]
        return try ExternalProgram.run(
            try Programs.find("unshare"), options + ["env", "WIRETAPE_CA_DIR=\(folder.file("ca"))", try Programs.wiretape()] + command)
    }

    private static let reason = "an isolated network cannot be set up here, as \"wiretape doctor\" says"

    private static let isPossible: Bool = {
        guard Programs.isInstalled("python3"), Programs.isInstalled("unshare"), let folder = try? TemporaryFolder() else { return false }
        return (try? Self.onMachine(folder, ["doctor", "--require", "isolation"]).status) == 0
    }()

    private static let client = ["python3", Programs.fixture("isolated_client.py")]

    private static let output = """
        own
        own
        own
        a.test /by-name
        203.0.113.5 /by-address
        localhost:9000 /of-the-machine
        own
        a.test /by-address-of-the-name
        closed port ConnectionRefusedError
        udp ConnectionRefusedError
        ssh ConnectionResetError
        redis ConnectionResetError

        """

    @Test(.enabled(if: Self.isPossible, "\(Self.reason)"))
    func aProgramThatIgnoresItsProxyIsRecordedAndReplayedOffline() throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("tape.json")
        let recorded = try Self.onMachine(folder, ["record", cassette, "--isolate", "--"] + Self.client)
        #expect(recorded.status == 0 && recorded.outputText == Self.output, "\(recorded.outputText) \(recorded.errors)")
        #expect(
            Set(try CassetteFile.urls(cassette)) == [
                "http://a.test/by-name", "http://203.0.113.5/by-address", "http://localhost:9000/of-the-machine",
                "http://a.test/by-address-of-the-name",
            ])
        #expect(recorded.errors.contains("0 requests through the proxy, 4 seen without it"), "\(recorded.errors)")
        for attempt in [
            "refused: udp 198.51.100.1:443 × 1 by ", "refused: tcp b.test:22 × 1 by python", "refused: tcp b.test:6379 × 1 by python",
        ] {
            #expect(recorded.errors.contains(attempt), "\(attempt): \(recorded.errors)")
        }
    }

    @Test(.enabled(if: Self.isPossible, "\(Self.reason)"))
    func aReplayUsesNoNetworkAndFailsOnEscapesIfAsked() throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("tape.json")
        let get = ["python3", "-c", "import urllib.request as u; print(u.build_opener(u.ProxyHandler({})).open('http://a.test/x').read())"]
        try #require(try Self.onMachine(folder, ["record", cassette, "--isolate", "--"] + get).status == 0)
        let replay = ["replay", cassette, "--isolate", "--fail-on", "miss,escapes", "--report", folder.file("report.json")]
        let end = try Self.onMachine(folder, replay + ["--"] + get)
        #expect(end.status == 0 && end.errors.contains("isolated, no network used: "), "\(end.errors)")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(try folder.read("report.json"))) as? [String: Any])
        #expect((report["isolation"] as? [String: Any])?["offline"] as? Bool == true)

        let datagram = "import socket; s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('198.51.100.1', 123))"
        let escape = try Self.onMachine(
            folder, replay + ["--", "sh", "-c", "\(get[0]) -c \"$0\" && \(get[0]) -c \"$1\"", get[2], datagram])
        #expect(escape.status == 10 && escape.errors.contains("refused: udp 198.51.100.1:123 × 1"), "\(escape.errors)")
    }

    @Test(.enabled(if: Self.isPossible, "\(Self.reason)"))
    func nothingStaysAfterTheRecorderIsKilled() throws {
        let folder = try TemporaryFolder()
        // The command ends its recorder, and then finds nobody at any address.
        let script = """
            import os, signal, socket, time
            os.kill(os.getppid(), signal.SIGKILL)
            try:
                socket.create_connection(("203.0.113.5", 80), timeout=30).recv(1)
                print("closed", flush=True)
            except OSError as error:
                print(type(error).__name__, flush=True)
            """
        let run = "\"$0\" record \"$1\" --isolate -- python3 -c \"$2\"; cat /dev/null"
        let options = ["--user", "--map-root-user", "--mount", "--net", "python3", Programs.fixture("isolated.py"), folder.path]
        let end = try ExternalProgram.run(
            try Programs.find("unshare"),
            options + [
                "env", "WIRETAPE_CA_DIR=\(folder.file("ca"))", "sh", "-c", run, try Programs.wiretape(), folder.file("tape.json"), script,
            ])
        #expect(
            ["ConnectionRefusedError\n", "ConnectionResetError\n", "closed\n"].contains(end.outputText), "\(end.outputText) \(end.errors)")
    }

    @Test func whereNamespacesAreForbiddenTheCommandDoesNotStart() throws {
        guard Namespaces.areForUsers else { return }
        let folder = try TemporaryFolder()
        let script =
            "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$0\" record \"$1\" --ca-dir \"$2\" --isolate -- touch \"$3\""
        let end = try ExternalProgram.run(
            try Programs.find("unshare"),
            [
                "--user", "--map-root-user", "sh", "-c", script, try Programs.wiretape(), folder.file("tape.json"), folder.file("ca"),
                folder.file("started"),
            ])
        #expect(end.status == 1 && end.errors.contains("user.max_net_namespaces is 0"), "\(end.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("started")))
    }
}
#endif
