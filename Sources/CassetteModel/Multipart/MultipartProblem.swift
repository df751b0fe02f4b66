/// Something about a multipart body that a server may stumble over, where it is, and what to do.
public struct MultipartProblem: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable, CaseIterable {
        // The message's Content-Type.
        case contentTypeTwice, boundaryMissing, boundaryEmpty, boundaryTooLong, boundaryCharacters, boundaryQuoted
        /// The body has delimiters, but of another boundary.
        case boundaryWrong
        case noDelimiter, notClosed
        /// A line end in front of the first delimiter, and nothing else.
        case lineEndBeforeFirst
        case preamble, epilogue
        /// No line end in front of a delimiter or behind it.
        case lineEndMissing
        /// No line end behind the closing delimiter.
        case lastLineEndMissing
        /// One line end too many between a header section and data, or between data and a delimiter.
        case lineEndDoubled
        case lineFeedOnly, padding
        /// No empty line between a header section and data.
        case emptyLineMissing
        /// The boundary within a header section or within data, where some servers cut.
        case boundaryInHeaders, boundaryInData
        case colonMissing, fieldTwice, nameMissing, notFormData, nul
        case tooDeep, tooMuch
        /// Problems that are not listed.
        case more
    }

    public var kind: Kind
    /// Octets of the body in front of the problem; nil for one of the message's header fields.
    public var offset: Int?
    /// In plain words, without the offset.
    public var sentence: String
    /// The boundary that the body uses, where it is not the one that Content-Type names.
    public var proposal: MultipartBoundary?

    public init(_ kind: Kind, offset: Int?, _ sentence: String, proposal: MultipartBoundary? = nil) {
        self.kind = kind
        self.offset = offset
        self.sentence = sentence
        self.proposal = proposal
    }

    public var description: String { self.offset.map { "offset \($0): \(self.sentence)" } ?? self.sentence }
}
