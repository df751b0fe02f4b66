internal import CassetteTools
internal import TapeBytes

/// Recorded text for a model: framed, so that the model can tell it from words of this program, and with nothing in it that is invisible.
///
/// A recording contains whatever a server sent. It is data, and may be written to look like an instruction.
struct UntrustedText: Sendable {
    private static let opening = "[recorded text"
    private static let closing = "[end of recorded text"

    /// Made for one server, so that recorded text cannot contain the frame.
    private let nonce: String

    init() {
        var generator = SystemRandomNumberGenerator()
        let words: [UInt64] = [generator.next(), generator.next()]
        self.init(nonce: Hex.encode(words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } }))
    }

    init(nonce: String) { self.nonce = nonce }

    /// Control characters, characters that change direction and invisible ones are spelled out, and marks of a frame made harmless.
    func framed(_ text: some Collection<UInt8>) -> String {
        let bytes = Array(text)
        let visible =
            UTF8Validator.isValid(bytes)
            ? VisibleText.whole(bytes, .exact)
            : bytes.split(separator: 10, omittingEmptySubsequences: false).map { VisibleText.line($0) }.joined(separator: "\n")
        let harmless = Self.withoutMarks(visible.replacing(self.nonce, with: "…"))
        return "\(Self.opening) \(self.nonce)]\n\(harmless)\n\(Self.closing) \(self.nonce)]"
    }

    func framed(_ text: String) -> String { self.framed(Array(text.utf8)) }

    /// The marks with a round bracket, in capitals or not and however their words are spaced.
    private static func withoutMarks(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "[")) else { return text }
        let scalars = Array(text.unicodeScalars)
        var shown = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            shown.append(scalar == "[" && self.isMark(scalars[(index + 1)...]) ? "(" : scalar)
        }
        return String(shown)
    }

    /// - Parameter text: what follows the bracket.
    private static func isMark(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        var rest = text
        func word() -> String {
            rest = rest.drop { $0.properties.isWhitespace }
            let word = rest.prefix { $0.properties.isAlphabetic }.prefix(self.wordLimit)
            rest = rest.dropFirst(word.count)
            return String(String.UnicodeScalarView(word)).lowercased()
        }
        let first = word()
        if first == "end" { return word() == "of" && word() == "recorded" && word() == "text" }
        return first == "recorded" && word() == "text"
    }

    /// Longer than any word of a mark.
    private static let wordLimit = 16
}
