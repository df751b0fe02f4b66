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
            ? VisibleText.whole(bytes, .lines)
            : bytes.split(separator: 10, omittingEmptySubsequences: false).map { VisibleText.line($0) }.joined(separator: "\n")
        let harmless = visible.replacing(self.nonce, with: "…").replacing(Self.closing, with: "(end of recorded text")
            .replacing(Self.opening, with: "(recorded text")
        return "\(Self.opening) \(self.nonce)]\n\(harmless)\n\(Self.closing) \(self.nonce)]"
    }

    func framed(_ text: String) -> String { self.framed(Array(text.utf8)) }
}
