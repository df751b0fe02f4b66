import TapeTestSupport
import Testing

@testable import CassettePlayback
@testable import TapeBytes

/// Canonical base64 and hex with placeholders.
@Suite struct CodedMarksTests {
    private func replaced(_ text: [UInt8]) -> [UInt8] { text.withUnsafeBytes { MatchMark.replaced(in: $0) } ?? text }

    private func replaced(_ text: String) -> String { String(decoding: self.replaced(Array(text.utf8)), as: UTF8.self) }

    @Test(arguments: [
        // {{token:12}} in base64, with several spellings of the padding, and without padding.
        ("e3t0b2tlbjoxMn19", "e3sqfX0="), ("e3t0b2tlbjoxfX0=", "e3sqfX0="), ("e3t0b2tlbjoxfX0%3D", "e3sqfX0="),
        ("e3t0b2tlbjoxfX0", "e3sqfX0="), ("\"e3t0b2tlbjoxfX0\\u003d\"", "\"e3sqfX0=\""),
        // user:{{token:1}}, a{{token:1}}, and u={{token:1}} with percent-encoded braces.
        ("dXNlcjp7e3Rva2VuOjF9fQ==", "dXNlcjp7eyp9fQ=="), ("YXt7dG9rZW46MX19", "YXt7Kn19"),
        ("dT0lN0IlN0J0b2tlbiUzQTIlN0QlN0Qmdj0y", "dT17eyp9fSZ2PTI="),
        // Hex in upper and lower case.
        ("0x7b7b746f6b656e3a317d7d!", "0x7b7b2a7d7d!"), ("7B7B746F6B656E3A317D7D", "7b7b2a7d7d"),
        // The rest of a path is no base64, and neither is a text without a placeholder.
        ("/u/e3t0b2tlbjoxfX0/items/1", "/u/e3sqfX0=/items/1"), ("/u/e3t0b2tlbjoxMn19/items/1", "/u/e3sqfX0=/items/1"),
        ("e3tub3RoaW5nfX0=", "e3tub3RoaW5nfX0="), ("7b7b", "7b7b"), ("", ""),
    ]) func runsWithPlaceholdersAreCanonical(text: String, expected: String) {
        #expect(self.replaced(text) == expected)
    }

    /// Pieces of base64 and hex with placeholders among others, cut anywhere.
    @Test func piecesGiveWhatTheWholeGives() {
        var generator = SeededGenerator(seed: 11)
        let pieces = [
            "e3t0b2tlbjoxfX0=", "e3t0b2tlbjoxMn19", "dXNlcjp7e3Rva2VuOjF9fQ", "7b7b746f6b656e3a317d7d", "{{token:1}}", "%3D", "/", "\\/",
            " ", "=",
            "a", "-", "YXt7dG9rZW46MX19", "\n", "%2B", "7e", "t7", "e3t", "5ec7e700-0000-4000-8000-000000000001", "\u{7F}",
        ]
        for _ in 0..<1000 {
            var text: [UInt8] = []
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let piece = Array(pieces[Int.random(in: 0..<pieces.count, using: &generator)].utf8)
                text += piece.prefix(Int.random(in: 0...9, using: &generator) == 0 ? piece.count / 2 : piece.count)
            }
            let whole = self.replaced(text)
            #expect(whole.count <= text.count)
            let fits = whole.withUnsafeBytes { whole in MatchMark.value(whole, fits: whole) }
            #expect(fits, "\(String(decoding: text, as: UTF8.self))")
            var facet = ByteFacet(digest: PortableSHA256())
            var start = 0
            while start < text.count {
                let end = min(text.count, start + Int.random(in: 1...20, using: &generator))
                text[start..<end].withUnsafeBytes { facet.push($0) }
                start = end
            }
            _ = facet.finish()
            #expect(facet.beginning == whole, "\(String(decoding: text, as: UTF8.self))")
        }
    }

    /// In a word that is too long to be held, nothing is replaced, wherever it is cut.
    @Test func longWordsStayInAnyPieces() {
        let long = Array(repeating: UInt8(ascii: "A"), count: CodedMarkFilter.wordLimit) + Array("e3t0b2tlbjoxfX0= e3t0b2tlbjoxfX0=".utf8)
        for size in [1000, 65_536, 200_000] {
            var facet = ByteFacet(digest: PortableSHA256(), keeping: 1 << 20)
            var start = 0
            while start < long.count {
                let end = min(long.count, start + size)
                long[start..<end].withUnsafeBytes { facet.push($0) }
                start = end
            }
            _ = facet.finish()
            #expect(facet.beginning.suffix(25).elementsEqual("e3t0b2tlbjoxfX0= e3sqfX0=".utf8), "\(size)")
        }
    }

    /// A text that makes the search try the marks before a run at many offsets.
    @Test func fittingIsBounded() {
        let recorded = Array("{{*}}ae3sqfX0h".utf8)
        let live = Array(repeating: UInt8(ascii: "a"), count: 1 << 15)
        let fits = recorded.withUnsafeBytes { recorded in live.withUnsafeBytes { MatchMark.value(recorded, fits: $0) } }
        #expect(!fits)
    }
}
