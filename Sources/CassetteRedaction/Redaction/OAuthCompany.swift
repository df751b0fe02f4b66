internal import Platform

/// The parameters beside which `code` is an authorization code (RFC 6749, 4.1), found in a text.
///
/// Asked for places that ascend, it looks at each byte of the text once, however many places there are.
struct OAuthCompany {
    static let names: [StaticString] = ["grant_type=", "state=", "redirect_uri=", "client_id=", "code_verifier=", "session_state="]
    /// The same in JSON.
    static let members: [StaticString] = ["\"grant_type\"", "\"redirect_uri\"", "\"code_verifier\"", "\"client_secret\""]

    /// Bytes to both sides of a `code` among which the others of its request are.
    static let reach = 2048

    private let words: [StaticString]
    /// A byte that each word has once.
    private let mark: UInt8
    /// The first word from the last place on; nil before the first question.
    private var next: Range<Int>?
    /// Bytes looked at, for tests of what it costs.
    private(set) var looked = 0

    private init(_ words: [StaticString], mark: UInt8) {
        self.words = words
        self.mark = mark
    }

    static var inQueries: OAuthCompany { OAuthCompany(Self.names, mark: UInt8(ascii: "=")) }
    static var inJSON: OAuthCompany { OAuthCompany(Self.members, mark: UInt8(ascii: "_")) }

    /// Whether one of the words is in a range of the text. No range begins before the one that was asked for last.
    mutating func isIn(_ range: Range<Int>, of text: UnsafeRawBufferPointer) -> Bool {
        if self.next.map({ $0.lowerBound < range.lowerBound }) ?? true { self.next = self.first(in: text, from: range.lowerBound) }
        return self.next.map { $0.upperBound <= range.upperBound && !$0.isEmpty } ?? false
    }

    /// An empty range at the end if there is none.
    private mutating func first(in text: UnsafeRawBufferPointer, from start: Int) -> Range<Int> {
        let none = text.count..<text.count
        guard let base = text.baseAddress else { return none }
        var from = start
        while from < text.count {
            guard let found = memchr(base + from, Int32(self.mark), text.count - from) else {
                self.looked += text.count - from
                return none
            }
            let offset = UnsafeRawPointer(found) - base
            self.looked += offset + 1 - from
            from = offset + 1
            for word in self.words {
                let length = word.utf8CodeUnitCount
                let mark = UnsafeBufferPointer(start: word.utf8Start, count: length).firstIndex(of: self.mark) ?? 0
                let lower = offset - mark
                if lower >= start, text.count - lower >= length, memcmp(base + lower, word.utf8Start, length) == 0 {
                    return lower..<lower + length
                }
            }
        }
        return none
    }
}
