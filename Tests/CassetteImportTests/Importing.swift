import CassetteFormat
import CassetteModel
import CassetteStore
import TapeBytes
import TapeTestSupport
@testable import CassetteImport

/// Imports texts into a cassette in its own folder.
struct Importing {
    let folder: TemporaryFolder
    var cassette: String { self.folder.file("out.json") }

    init() throws { self.folder = try TemporaryFolder() }

    /// - Returns: the report, and the interactions in the cassette.
    func run(_ text: String, as name: String = "in.har", _ change: (inout ImportOptions) -> Void = { _ in }) throws
        -> (report: ImportReport, interactions: [Interaction])
    {
        try self.run(bytes: Array(text.utf8), as: name, change)
    }

    func run(bytes: [UInt8], as name: String, _ change: (inout ImportOptions) -> Void = { _ in }) throws
        -> (report: ImportReport, interactions: [Interaction])
    {
        var options = ImportOptions()
        change(&options)
        let file = try self.folder.write(bytes, to: name)
        let report = try CassetteImporter(options).run([file], to: self.cassette, version: "1.2.3")
        return (report, try RecordedExchanges.read(self.cassette))
    }

    /// The message of a failing import, which must leave only its source.
    func failure(_ text: String, as name: String = "in.har", _ change: (inout ImportOptions) -> Void = { _ in }) throws -> String {
        do {
            _ = try self.run(text, as: name, change)
            throw TestProblem("the import did not fail")
        } catch let error as CassetteError {
            let left = try self.folder.names().filter { $0 != name }
            guard left.isEmpty else { throw TestProblem("\(left) are left") }
            return error.message
        }
    }

    /// The content of a body.
    func bytes(_ body: Body?) throws -> [UInt8] {
        guard let body else { return [] }
        return try BodyReader(cassettePath: self.cassette).wireBytes(of: body, digest: { PortableSHA256() }).bytes
    }
}

/// Archives as texts.
enum HARText {
    /// An archive of these entries.
    static func log(_ entries: String..., before: String = "") -> String {
        #"{"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, \#(before)"entries": [\#(entries.joined(separator: ","))]}}"#
    }

    static func entry(
        _ method: String = "GET", _ url: String = "http://a.test/pets", request: String = "", status: Int = 200,
        headers: String = #"{"name": "Content-Type", "value": "text/plain"}"#, response: String = #""content": {"size": 2, "text": "hi"}"#,
        more: String = ""
    ) -> String {
        """
        {"startedDateTime": "2024-01-02T03:04:05.678Z", "time": 9, \(more)
         "request": {"method": "\(method)", "url": "\(url)", "httpVersion": "HTTP/1.1", "headers": [{"name": "Host", "value": "a.test"}]\(request)},
         "response": {"status": \(status), "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": [\(headers)], \(response)},
         "cache": {}, "timings": {"send": 1, "wait": 2, "receive": 3}}
        """
    }
}
