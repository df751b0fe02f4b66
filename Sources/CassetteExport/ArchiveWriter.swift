internal import CassetteFormat
package import CassetteModel
internal import CassetteTools
package import TapeBytes

/// An HTTP Archive 1.2 of a cassette, with the bodies beside it.
package struct ArchiveWriter: ExchangeWriter {
    private var writer: HARWriter
    private let kept: UnknownMember?

    /// - Parameter kept: the member `har` of the cassette's head.
    package init(_ kept: UnknownMember?, path: String, sink: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.kept = kept
        self.writer = HARWriter(bodies: CassetteBodySource(path: path), sink: sink)
    }

    package mutating func begin() throws { try self.writer.begin(creator: "wiretape", version: Version.current, kept: self.kept) }

    package mutating func append(_ interaction: Interaction, number: Int) throws { try self.writer.append(interaction) }

    package mutating func end() throws { try self.writer.end() }
}
