internal import CassetteFormat
package import CassetteModel
internal import CassetteStore
internal import CassetteTools
package import TapeBytes

/// A format that exchanges are written in for other tools.
package enum ExportFormat: String, Sendable, Hashable, CaseIterable {
    case har, raw, postman, wiremock, curl, swift, warc
}

/// The shell that commands are written for.
package enum ExportShell: String, Sendable, Hashable, CaseIterable {
    /// Any of POSIX.
    case bash
    case fish, powershell
}

/// Writes exchanges one after another in a format of another tool.
package protocol ExchangeWriter {
    mutating func begin() throws
    /// - Parameter number: of the exchange in its cassette, from 1.
    mutating func append(_ interaction: Interaction, number: Int) throws
    mutating func end() throws
    /// What was left out, for people.
    var notes: [String] { get }
}

extension ExchangeWriter {
    package var notes: [String] { [] }
}

/// What writers share: where the text goes, and where the bodies are.
package struct ExportTarget {
    /// A body that is written into a text is in memory.
    static let bodyLimit = 64 << 20

    let sink: (UnsafeRawBufferPointer) throws -> Void
    let reader: BodyReader
    /// The cassette as the caller named it.
    let path: String

    package init(path: String, sink: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.path = path
        self.sink = sink
        self.reader = BodyReader(cassettePath: path)
    }

    /// For a JSON document: characters that are not seen, or change the direction of text, are escaped in it.
    func visibleJSON() -> ExportTarget { ExportTarget(path: self.path, sink: VisibleText.json(to: self.sink)) }

    func write(_ text: String) throws { try self.write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes(self.sink) }

    func write(_ fields: HeaderFields) throws { try fields.withBytes(self.sink) }

    /// The name of the cassette, without folders and `.json`.
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
                "exchange \(number) has a body of more than \(Self.bodyLimit >> 20) MiB, which this format would have in its text: leave it out with --filter."
            )
        }
        return bytes
    }
}

/// Header fields that say how a body was sent, which is another tool's business when it sends one.
enum FramingFields {
    static func contains(_ name: String, isDecoded: Bool) -> Bool {
        switch name.lowercased() {
        case "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "trailer", "upgrade": true
        case "content-encoding": isDecoded
        default: false
        }
    }
}

/// An HTTP Archive 1.2 of a cassette, with the bodies beside it.
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
