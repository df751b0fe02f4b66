import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Sessions as test runners use them: other programs, one process, many cassettes.
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
            // Acknowledged, and then in the file: the moment of the kill is no question of luck.
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
