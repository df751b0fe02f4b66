import TapeTestSupport
import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteStore
@testable import TapeBytes

/// Cassettes in a folder of their own, as the recorder would write them.
struct CareFolder {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    func file(_ name: String) -> String { self.folder.file(name) }

    /// Writes interactions unchanged, including their ids.
    @discardableResult
    func write(_ interactions: [Interaction], to name: String, members: [UnknownMember] = []) throws -> String {
        let appender = try CassetteAppender.create(self.file(name), recorder: "test", members: members)
        for interaction in interactions {
            var writer = JSONWriter()
            writer.removeAll()
            InteractionEncoder.encode(interaction, into: &writer)
            try appender.append([writer.bytes])
        }
        try appender.sync()
        return self.file(name)
    }

    /// A sidecar in the body folder of a cassette that need not exist yet.
    func sidecar(_ bytes: [UInt8], of name: String, ext: String = "bin") throws -> Sidecar {
        let store = try BodyStore(cassettePath: self.file(name))
        let spool = try store.makeSpool()
        try spool.write(bytes)
        return try spool.finish(sha256: Self.digest(bytes), ext: ext)
    }

    func raw(_ bytes: [UInt8], of name: String) throws -> RawSlice {
        try BodyStore(cassettePath: self.file(name)).rawSpool().append(bytes)
    }

    func replace(_ old: String, with new: String, in name: String) throws {
        let text = String(decoding: try self.folder.read(name), as: UTF8.self)
        #expect(text.contains(old))
        try self.folder.write(Array(text.replacing(old, with: new).utf8), to: name)
    }

    static func digest(_ bytes: [UInt8]) -> String {
        var digest = PortableSHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return Hex.encode(digest.finalize())
    }
}

extension Interaction {
    /// An exchange that started at a given second.
    static func care(
        _ id: Int, at second: Int64 = 0, _ method: String = "GET", _ url: String = "http://a/", request: [String] = ["Host: a"],
        requestBody: Body? = nil, status: Int = 200, headers: [String] = [], body: Body? = nil, connection: ConnectionInfo? = nil
    ) -> Interaction {
        Interaction(
            id: id, started: Timestamp(microseconds: (second + 1_795_262_400) * 1_000_000),
            request: RecordedRequest(method: method, url: url, headers: HeaderFields(request), body: requestBody),
            response: RecordedResponse(status: status, reason: Array("OK".utf8), headers: HeaderFields(headers), body: body),
            connection: connection)
    }
}

extension Body {
    static func json(_ text: String) -> Body { Body(size: text.utf8.count, content: .json(Array(text.utf8), style: .compact)) }
    static func text(_ text: String) -> Body { Body(size: text.utf8.count, content: .text(Array(text.utf8))) }
    static func file(_ sidecar: Sidecar) -> Body { Body(size: sidecar.size, content: .file(sidecar)) }
}
