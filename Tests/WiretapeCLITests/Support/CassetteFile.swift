import Foundation
import Testing
import TapeTestSupport

/// A cassette as readers other than Wiretape see it.
enum CassetteFile {
    /// A Python with the jsonschema package: the one in PATH, or the system's.
    private static let python = Result {
        for path in [try Programs.find("python3"), "/usr/bin/python3"] where FileManager.default.isExecutableFile(atPath: path) {
            if try ExternalProgram.run(path, ["-c", "import jsonschema"]).status == 0 { return path }
        }
        throw TestProblem("no Python 3 has the \"jsonschema\" package: \"scripts/setup.sh test\" installs it")
    }

    /// Expects that it conforms to docs/cassette.schema.json, and that every referenced body exists.
    static func expectValid(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let schema = Programs.repository + "/docs/cassette.schema.json"
        let check = try ExternalProgram.run(try self.python.get(), [Programs.fixture("check_cassette.py"), schema, path])
        #expect(check.status == 0, "\(check.outputText)\(check.errors)", sourceLocation: sourceLocation)
    }

    /// The recorded exchanges.
    static func interactions(_ path: String) throws -> [[String: Any]] {
        let document = try JSONSerialization.jsonObject(with: Data(TemporaryFolder.contents(path))) as? [String: Any]
        guard let interactions = document?["interactions"] as? [[String: Any]] else { throw TestProblem("\"\(path)\" has no interactions") }
        return interactions
    }

    static func urls(_ path: String) throws -> [String] {
        try self.interactions(path).map { ($0["request"] as? [String: Any])?["url"] as? String ?? "" }
    }

    /// The text at a path of members and indexes in an interaction, `connection.tls.chain.0.sha256`; nil if there is none.
    static func text(_ path: String, of interaction: [String: Any]) -> String? {
        var value: Any? = interaction
        for step in path.components(separatedBy: ".") {
            if let elements = value as? [Any], let index = Int(step) {
                value = elements.indices.contains(index) ? elements[index] : nil
            } else {
                value = (value as? [String: Any])?[step]
            }
        }
        return value.map { "\($0)" }
    }
}
