/// Why a coded body could not be taken apart, and where.
public struct InflateProblem: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The octets are not what the format asks for.
        case corrupt
        /// The input ended before the stream did.
        case truncated
        /// The decoded octets are not the ones the trailer tells of.
        case wrongChecksum, wrongLength
        /// More decoded octets than a limit allows.
        case tooLong, tooDense
        /// A part of the format that HTTP does not use: a preset dictionary, an endless header.
        case unsupported
        case outOfMemory
    }

    public var kind: Kind
    /// Octets of input in front of the problem.
    public var offset: Int
    /// In plain words, without the offset.
    public var reason: String

    public init(_ kind: Kind, offset: Int, reason: String) {
        self.kind = kind
        self.offset = offset
        self.reason = reason
    }

    public var description: String { "\(self.reason) at offset \(self.offset)" }
}
