/// Text of a body on its way to a screen: each line indented, and on a terminal an end after so many lines.
struct IndentedText {
    /// More than this of one body makes people scroll.
    static let lineLimit = 200
    /// For text without line ends.
    static let octetLimit = 64 << 10
    static let indentation = "  "

    /// Whether the limit cut something off.
    private(set) var isCut = false
    private(set) var isAtLineStart = true
    private let isLimited: Bool
    private let indentation: String
    private var lines = 0
    private var octets = 0

    init(isLimited: Bool, indentation: String = Self.indentation) {
        self.isLimited = isLimited
        self.indentation = indentation
    }

    /// The piece with its indentation, as far as the limit lets it through.
    mutating func push(_ piece: String) -> String {
        guard !self.isCut else { return "" }
        guard self.isLimited else { return self.indent(piece[...]) }
        var end = piece.startIndex
        while end < piece.endIndex {
            guard self.lines < Self.lineLimit, self.octets < Self.octetLimit else {
                self.isCut = true
                break
            }
            let character = piece.unicodeScalars[end]
            end = piece.unicodeScalars.index(after: end)
            self.octets += UTF8.width(character)
            if character == "\n" { self.lines += 1 }
        }
        return self.indent(piece[..<end])
    }

    private mutating func indent(_ piece: Substring) -> String {
        var shown: [UInt8] = []
        shown.reserveCapacity(piece.utf8.count + 64)
        for octet in piece.utf8 {
            if self.isAtLineStart, octet != 10 { shown.append(contentsOf: self.indentation.utf8) }
            shown.append(octet)
            self.isAtLineStart = octet == 10
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
