import Foundation
import Platform
import Testing
import TapeTestSupport

/// Sessions in the way of test runners: other programs, one process, many cassettes.
@Suite struct SessionsTests {
    @Test func pythonWorkersRecordAndReplayAtOnceOverOnePort() throws {
        let origin = try Python.origin("counting_origin.py")
        defer { origin.program.stop() }
        let served = try ServedSessions()
        let end = try Python.run(
            "sessions.py", [served.control, ServedSessions.token, "127.0.0.1:\(origin.port)", "8"])
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.outputText == "40\n")
        for number in 0..<8 { try CassetteFile.expectValid(served.folder.file("\(number).json")) }
        let stopped = try served.program.end()
        #expect(stopped.status == 0, "\(stopped.errors)")
    }

    /// One server for many processes, started like a driver does.
    @Test func processesShareAServer() throws {
        let folder = try TemporaryFolder()
        let end = try Python.run(
            "shared_serve.py", [try Programs.wiretape(), folder.file("made/cassettes")],
            environment: try Wiretape.environment(["TMPDIR": folder.path, "XDG_RUNTIME_DIR": ""]))
        #expect(end.status == 0 && end.outputText == "ok\n", "\(end.errors)")
    }

    /// Equal URLs with different answers, all concurrent over one port: each program gets its own session's answers, in order.
    @Test func eightProgramsAtOnceGetTheirOwnAnswers() throws {
        let count = 20
        let url = "http://origin.test/turn"
        let served = try ServedSessions()
        let programs = ["curl", "python3"] + (Programs.isInstalled("node") ? ["node"] : [])
        var clients: [(wanted: String, program: ExternalProgram)] = []
        defer { for client in clients { client.program.stop() } }
        let proxies = try (0..<8).map { number in
            let bodies = (1...count).map { "client \(number) turn \($0)\n" }
            try served.folder.write(Self.cassette(url, bodies).utf8, to: "\(number).json")
            let session = try served.ask(
                "POST", "/sessions", body: #"{"cassette": "\#(number).json", "mode": "none", "failOn": ["miss", "unused"]}"#)
            return (bodies.joined(), try #require(session["proxy"] as? String))
        }
        for (number, (wanted, proxy)) in proxies.enumerated() {
            let program = programs[number % programs.count]
            let arguments =
                switch program {
                case "curl": ["-q", "-sS", "--max-time", "60", "--noproxy", "", "-x", proxy] + Array(repeating: url, count: count)
                case "node": [Programs.fixture("session_client.js"), proxy, url, "\(count)"]
                default: [Programs.fixture("session_client.py"), proxy, url, "\(count)"]
                }
            clients.append((wanted, try ExternalProgram(try Programs.find(program), arguments)))
        }
        for (wanted, program) in clients {
            let end = try program.wait()
            #expect(end.outputText == wanted, "\(program.name): \(end.errors)")
        }
        for number in 1...8 { #expect(try served.ask("DELETE", "/sessions/s\(number)")["exit"] as? Int == 0) }
    }

    /// Exchanges with one URL, and a body each.
    private static func cassette(_ url: String, _ bodies: [String]) -> String {
        let interactions = bodies.enumerated().map { index, body in
            let number = index + 10
            return """
                { "id": \(index + 1), "started": "2026-11-21T04:19:\(number).000000Z",
                  "request": { "method": "GET", "url": "\(url)", "headers": ["Host: origin.test"] },
                  "response": { "status": 200, "headers": ["Content-Length: \(body.utf8.count)"],
                    "body": { "size": \(body.utf8.count), "text": "\(body.dropLast())\\n" } } }
                """
        }
        return "{ \"wiretape\": 1, \"interactions\": [\n\(interactions.joined(separator: ",\n"))\n] }\n"
    }

    @Test func curlNamesItsSessionInTheProxysURL() throws {
        let origin = try Python.origin("counting_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/"
        let served = try ServedSessions()
        let sessions = try ["a", "b"].map { try served.ask("POST", "/sessions", body: #"{"cassette": "\#($0).json", "port": true}"#) }
        let proxies = try sessions.map { try #require($0["proxy"] as? String) }
        let ports = try sessions.map { try #require($0["portProxy"] as? String) }
        #expect(try [0, 1, 0, 1].map { try served.get(url, through: proxies[$0]) } == ["1\n", "2\n", "3\n", "4\n"])
        #expect(try served.get(url, through: ports[1]) == "5\n")
        #expect(try served.get(url, through: "http://s1:wrong@\(served.shared)") == "407")
        #expect(try served.get(url, through: "http://\(served.shared)") == "407")
        #expect(try served.get("http://localhost:\(served.control.split(separator: ":")[1])/sessions", through: proxies[0]) == "508")
        for id in ["s1", "s2"] {
            let ended = try served.ask("DELETE", "/sessions/\(id)")
            #expect(ended["exit"] as? Int == 0 && ended["state"] as? String == "closed")
        }
        let again = try served.ask("POST", "/sessions", body: #"{"cassette": "b.json", "mode": "none"}"#)
        let proxy = try #require(again["proxy"] as? String)
        #expect(try (0..<4).map { _ in try served.get(url, through: proxy) } == ["2\n", "4\n", "5\n", "424"])
        let ended = try served.ask("DELETE", "/sessions/s3")
        #expect(ended["exit"] as? Int == 3)
        #expect((ended["verdict"] as? [String: Any])?["misses"] as? Int == 1)
    }

    @Test func aSignalClosesWhatIsOpen() throws {
        let origin = try Python.origin("counting_origin.py")
        defer { origin.program.stop() }
        let served = try ServedSessions()
        let session = try served.ask("POST", "/sessions", body: #"{"cassette": "a.json"}"#)
        #expect(try served.get("http://127.0.0.1:\(origin.port)/", through: try #require(session["proxy"] as? String)) == "1\n")
        let end = try served.program.end()
        #expect(end.status == 0, "\(end.errors)")
        #expect(
            end.errors.contains("session \"s1\" with \"a.json\" was still open: 0 hits, 0 misses, 1 exchange recorded"), "\(end.errors)")
        try CassetteFile.expectValid(served.folder.file("a.json"))
        #expect(try CassetteFile.urls(served.folder.file("a.json")).count == 1)
        #expect(!end.errors.contains(ServedSessions.token))
    }

    @Test func afterAKillInTheMiddleTheCassettesAreThere() throws {
        let origin = try Python.origin("counting_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/"
        let folder = try TemporaryFolder()
        let served = try ServedSessions(in: folder)
        var answers: [String: String] = [:]
        for name in ["a", "b", "c"] {
            let session = try served.ask("POST", "/sessions", body: #"{"name": "\#(name)", "cassette": "\#(name).json"}"#)
            answers[name] = try served.get(url, through: try #require(session["proxy"] as? String))
            // Acknowledged, and then in the file: the moment of the kill is deterministic.
            _ = try Deadline.wait(for: "\(name).json") {
                ((try served.ask("GET", "/sessions/\(name)")["recording"]) as? [String: Any])?["recorded"] as? Int == 1 ? true : nil
            }
        }
        served.program.send(SIGKILL)
        _ = try served.program.wait()
        let next = try ServedSessions(in: folder)
        for name in ["a", "b", "c"] {
            let session = try next.ask("POST", "/sessions", body: #"{"cassette": "\#(name).json", "mode": "none"}"#)
            #expect(try next.get(url, through: try #require(session["proxy"] as? String)) == answers[name], "\(session)")
        }
    }
}
