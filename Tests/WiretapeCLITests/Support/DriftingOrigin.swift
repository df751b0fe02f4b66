import Foundation
import TapeTestSupport

/// An origin whose answers can be changed while it runs, and which stores its requests.
final class DriftingOrigin {
    let folder: TemporaryFolder
    let port: Int
    private let program: ExternalProgram

    init(_ answers: [String: String]) throws {
        self.folder = try TemporaryFolder()
        for (name, text) in answers { try self.folder.write(text.utf8, to: "answers/\(name)") }
        (self.program, self.port) = try Python.origin("drifting_origin.py", [self.folder.path])
    }

    func stop() { self.program.stop() }

    func set(_ name: String, _ text: String) throws { try self.folder.write(text.utf8, to: "answers/\(name)") }

    func url(_ path: String) -> String { "http://127.0.0.1:\(self.port)/\(path)" }

    /// The method and target of each request, in order; clears them.
    func takeRequests() throws -> [String] {
        guard self.folder.exists("requests") else { return [] }
        let lines = String(decoding: try self.folder.read("requests"), as: UTF8.self).split(separator: "\n")
        try FileManager.default.removeItem(atPath: self.folder.file("requests"))
        return try lines.map { line in
            let request = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return "\(request?["method"] ?? "") \(request?["target"] ?? "") \(request?["body"] ?? "")"
        }
    }

    /// Records curl's requests for each list of arguments.
    func record(_ cassette: String, _ commands: [[String]]) throws {
        let script = commands.map { Curl.line() + " -o /dev/null " + $0.map { "'\($0)'" }.joined(separator: " ") }.joined(separator: "\n")
        let end = try Wiretape.run(["record", cassette, "--no-redaction", "--", "sh", "-c", script])
        guard end.status == 0 else { throw TestProblem("nothing recorded: \(end.errors)") }
    }
}
