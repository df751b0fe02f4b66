internal import CassetteFormat
package import CassetteModel
internal import CassetteStore
internal import CassetteTools
package import TapeBytes

/// A format in which exchanges are written for other tools.
package enum ExportFormat: String, Sendable, Hashable, CaseIterable {
    case har, raw, postman, wiremock, curl, swift, warc, ndjson
}

/// The shell for which commands are written.
package enum ExportShell: String, Sendable, Hashable, CaseIterable {
    /// Any POSIX shell.
    case bash
    case fish, powershell
}

/// Writes exchanges one after another in another tool's format.
package protocol ExchangeWriter {
    mutating func begin() throws
    /// - Parameter number: the exchange's position in its cassette, counted from 1.
    mutating func append(_ interaction: Interaction, number: Int) throws
    mutating func end() throws
    /// What was left out, for people.
    var notes: [String] { get }
}

extension ExchangeWriter {
    package var notes: [String] { [] }
}

/// What writers share: the output, and access to the bodies.
package struct ExportTarget {
    /// The most bytes of a body that is written into a text, because it is held in memory.
    static let bodyLimit = 64 << 20

    let sink: (UnsafeRawBufferPointer) throws -> Void
    let reader: BodyReader
    /// The path of the cassette that the caller gave.
    let path: String

    package init(path: String, sink: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.path = path
        self.sink = sink
        self.reader = BodyReader(cassettePath: path)
    }

    /// A target for a JSON document, which escapes invisible characters and those that change the direction of text.
    func visibleJSON() -> ExportTarget { ExportTarget(path: self.path, sink: VisibleText.json(to: self.sink)) }

    func write(_ text: String) throws { try self.write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes(self.sink) }

    func write(_ fields: HeaderFields) throws { try fields.withBytes(self.sink) }

    /// The filename of the cassette without `.json`.
    var name: String {
        let name = FileLocation(self.path).name
        return name.hasSuffix(".json") ? String(name.dropLast(5)) : name
    }

    /// A body without its codings.
    func content(_ body: Body?, _ headers: HeaderFields, number: Int) throws -> [UInt8] {
        guard let body, body.size > 0 || body.content != .empty else { return [] }
        let contents = try BodyContents(body, headers: headers, reader: self.reader)
        guard let bytes = try contents.load(limit: Self.bodyLimit) else {
            throw CassetteError(
                .tooLarge,
                "exchange \(number) has a body of more than \(Self.bodyLimit >> 20) MiB, and this format writes bodies into its text: leave it out with --filter."
            )
        }
        return bytes
    }
}

/// Header fields that describe how a body was sent. Another tool sets them itself when it sends the body.
enum FramingFields {
    static func contains(_ name: String, isDecoded: Bool) -> Bool {
        switch name.lowercased() {
        case "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "trailer", "upgrade": true
        case "content-encoding": isDecoded
        default: false
        }
    }
}

/// Writes a cassette, including the body files next to it, as an HTTP Archive 1.2.
package struct ArchiveWriter: ExchangeWriter {
    private var writer: HARWriter
    private let kept: UnknownMember?

    /// - Parameter kept: the member `har` of the cassette's head.
    package init(_ kept: UnknownMember?, path: String, sink: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.kept = kept
        self.writer = HARWriter(bodies: CassetteBodySource(path: path), sink: VisibleText.json(to: sink))
    }

    package mutating func begin() throws { try self.writer.begin(creator: "wiretape", version: Version.current, kept: self.kept) }

    package mutating func append(_ interaction: Interaction, number: Int) throws { try self.writer.append(interaction) }

    package mutating func end() throws { try self.writer.end() }
}
