import CassettePlayback
import Foundation
import TapeTestSupport
@testable import TapeProxy
import Testing

/// Features for programs that share a server: labels, folders that are created, and sessions that end with their process.
@Suite struct SessionOwnershipTests {
    @Test func aLabelIsInEveryAnswer() throws {
        let running = try RunningSessions()
        let label = "ShopTests > lists [1] 보리/고양이"
        let opened = try running.ask("POST", "/sessions", body: #"{"cassette": "a.json", "label": "\#(label)"}"#)
        #expect(opened.body["label"] as? String == label)
        #expect(try running.ask("GET", "/sessions/s1").body["label"] as? String == label)
        #expect(try running.ask("DELETE", "/sessions/s1").body["label"] as? String == label)
        for wrong in ["", String(repeating: "x", count: 1025)] {
            #expect(try running.ask("POST", "/sessions", body: #"{"cassette": "a.json", "label": "\#(wrong)"}"#).status == 400)
        }
    }

    @Test func foldersAreMadeIfThatIsAskedFor() throws {
        let running = try RunningSessions()
        let name = "made/deep [1]/a.json"
        #expect(try running.ask("POST", "/sessions", body: #"{"cassette": "\#(name)"}"#).status == 422)
        let none = try running.ask("POST", "/sessions", body: #"{"cassette": "\#(name)", "folders": true, "mode": "none"}"#)
        #expect((none.body["error"] as? [String: Any])?["code"] as? String == "no-cassette")
        #expect(!FileManager.default.fileExists(atPath: running.folder.file("made")), "a replay makes no folder")
        #expect(try running.ask("POST", "/sessions", body: #"{"cassette": "\#(name)", "folders": true}"#).status == 201)
        #expect(try running.ask("POST", "/sessions", body: #"{"cassette": "../out/a.json", "folders": true}"#).status == 400)
        #expect(try running.ask("POST", "/sessions", body: #"{"cassette": ".hidden/a.json", "folders": true}"#).status == 400)
        try FileManager.default.createSymbolicLink(atPath: running.folder.file("link"), withDestinationPath: "/tmp")
        #expect(try running.ask("POST", "/sessions", body: #"{"cassette": "link/x/a.json", "folders": true}"#).status == 400)
    }

    @Test func theSessionsOfAProcessThatHasEndedDoNotKeepTheirCassettes() throws {
        let running = try RunningSessions()
        let owner = Process()
        owner.executableURL = URL(fileURLWithPath: "/bin/cat")
        owner.standardInput = Pipe()
        try owner.run()
        let body = #"{"cassette": "a.json", "owner": \#(owner.processIdentifier)}"#
        #expect(try running.ask("POST", "/sessions", body: body).status == 201)
        #expect(try running.ask("POST", "/sessions", body: #"{"cassette": "a.json"}"#).status == 409, "its process is running")
        // Other tests may have blocked the signals that can be blocked.
        kill(owner.processIdentifier, SIGKILL)
        owner.waitUntilExit()
        #expect(try running.ask("POST", "/sessions", body: #"{"cassette": "a.json"}"#).status == 201)
        #expect(try running.ask("POST", "/sessions", body: body).status == 400, "there is no such process")
        for wrong in ["0", "-1", #""1""#, "1.5"] {
            #expect(try running.ask("POST", "/sessions", body: #"{"cassette": "b.json", "owner": \#(wrong)}"#).status == 400, "\(wrong)")
        }
    }

    @Test func aProcessIsKnownByItsStart() throws {
        let own = try #require(ProcessIdentity(getpid()))
        #expect(own.isRunning && own == ProcessIdentity(getpid()))
        #expect(ProcessIdentity(Int32.max) == nil)
    }

    /// The text is the message with which a driver fails its test.
    @Test func aReportDescribesItsFlawsInWords() throws {
        let running = try RunningSessions()
        try running.folder.write(RunningSessions.cassette("http://origin.test/pets?page=1", "old"), to: "old.json")
        let session = try running.server.open(SessionOrder(cassette: "old.json", mode: .none))
        #expect(try running.get("http://origin.test/pets?page=2", as: session).hasPrefix("HTTP/1.1 424 "))
        let text = try #require(try running.ask("DELETE", "/sessions/s1").body["text"] as? String)
        #expect(text.contains("no recorded exchange answers \"GET http://origin.test/pets?page=2\""))
        #expect(text.contains(#"open the session with "rules": {"ignore": ["query:page"]}"#) && !text.contains("wiretape run"))
    }

    /// An empty cassette would be replayed the next time, and refuse every request.
    @Test func aSessionWithoutRequestsLeavesNoCassette() throws {
        let running = try RunningSessions()
        #expect(try running.ask("POST", "/sessions", body: #"{"cassette": "a.json"}"#).status == 201)
        let report = try running.ask("DELETE", "/sessions/s1").body
        #expect(report["exit"] as? Int == 0 && (report["recording"] as? [String: Any])?["file"] == nil)
        #expect(!FileManager.default.fileExists(atPath: running.folder.file("a.json")))
    }

    @Test func rulesInTheCassettesHeadAreBlamedOnTheCassette() throws {
        let running = try RunningSessions()
        try running.folder.write(Array(#"{"wiretape": 2, "match": {"ignore": ["zzz"]}, "interactions": []}"#.utf8), to: "bad.json")
        let answer = try running.ask("POST", "/sessions", body: #"{"cassette": "bad.json", "mode": "none"}"#)
        let error = try #require(answer.body["error"] as? [String: Any])
        #expect(answer.status == 422 && error["code"] as? String == "cassette")
        #expect((error["message"] as? String)?.contains("bad.json") == true)
    }
}
