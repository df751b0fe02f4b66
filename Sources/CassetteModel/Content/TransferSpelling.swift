/// How a part's octets are spelled in its Content-Transfer-Encoding, so that writing them again gives what was received.
public enum TransferSpelling: Sendable, Hashable {
    case base64(Base64Spelling)
    case quotedPrintable(QuotedPrintableSpelling)

    /// The spelling that the fields of a part announce, and what `text` stands for in it; nil where there is none, or where writing that
    /// again does not give `text`.
    package static func find(_ text: [UInt8], _ fields: HeaderFields) -> (spelling: TransferSpelling, octets: [UInt8])? {
        switch ContentTransferEncoding(fields) {
        case .identity, .other: nil
        case .base64: Base64Spelling.find(text).map { (.base64($0.spelling), $0.octets) }
        case .quotedPrintable: QuotedPrintableSpelling.find(text).map { (.quotedPrintable($0.spelling), $0.octets) }
        }
    }

    /// The octets as they are sent.
    public func write(_ octets: [UInt8]) -> [UInt8] {
        switch self {
        case .base64(let spelling): spelling.write(octets)
        case .quotedPrintable(let spelling): spelling.write(octets)
        }
    }
}
