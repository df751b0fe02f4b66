import Foundation
import LocalHTTP
import TapeTestSupport
@testable import TapeProxy
import Testing

/// The description is written by hand. These tests compare it with the messages that are read and written.
@Suite struct ControlDescriptionTests {
    private let schemas: [String: Any]
    private let document: [String: Any]

    init() throws {
        self.document = try #require(try JSONSerialization.jsonObject(with: Data(ControlDescription.openAPI.utf8)) as? [String: Any])
        let components = try #require(self.document["components"] as? [String: Any])
        self.schemas = try #require(components["schemas"] as? [String: Any])
    }

    private func properties(_ schema: String) throws -> Set<String> {
        let schema = try #require(self.schemas[schema] as? [String: Any])
        return Set(try #require(schema["properties"] as? [String: Any]).keys)
    }

    @Test func itHasTheMembersOfOrders() throws {
        #expect(try self.properties("Order") == Set(SessionOrderReader.members))
    }

    @Test func itHasTheVersionAndThePaths() throws {
        #expect((self.document["info"] as? [String: Any])?["version"] as? String == ControlDescription.version)
        let paths = try #require(self.document["paths"] as? [String: [String: Any]])
        #expect(Set(paths.keys) == ["/openapi.json", "/sessions", "/sessions/{id}", "/sessions/{id}/modify"])
        for (path, operations) in paths {
            for method in operations.keys where method != "parameters" {
                let path = path.replacing("{id}", with: "s1")
                #expect(throws: Never.self, "\(method) \(path)") {
                    _ = try ControlRoute(LocalRequest(method: method.uppercased(), path: path, query: "", body: []))
                }
            }
        }
    }

    @Test func itHasWhatAnswersHave() throws {
        let running = try RunningSessions()
        try running.folder.write(RunningSessions.cassette("http://origin.test/", "old"), to: "old.json")
        let opened = try running.ask(
            "POST", "/sessions", body: #"{"cassette": "old.json", "mode": "new-episodes", "label": "one", "port": true, "maxAge": "1d"}"#)
        let session = try self.properties("Session")
        #expect(opened.status == 201 && Set(opened.body.keys).isSubset(of: session), "\(opened.body.keys)")
        let members = try self.properties("Report")
        for (method, path) in [("GET", "/sessions/s1"), ("DELETE", "/sessions/s1")] {
            let report = try running.ask(method, path).body
            #expect(Set(report.keys).isSubset(of: members), "\(report.keys)")
        }
    }

    @Test func itIsAnswered() throws {
        let running = try RunningSessions()
        let answer = try running.ask("GET", "/openapi.json")
        #expect(answer.status == 200 && answer.body["openapi"] as? String == "3.1.0")
        #expect(try running.ask("POST", "/openapi.json", body: "{}").status == 405)
    }
}
