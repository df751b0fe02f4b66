internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// The placeholders in a request, as hashes, and whatever else identifies its client.
///
/// They distinguish requests in which secrets are all that differs. Where a placeholder stands matters as well: a transfer from one account
/// to another is not the reverse of it.
struct HeldPlaceholders: Sendable, Hashable {
    /// At most this many are kept of one text.
    private static let limit = 256

    /// Hashes of kinds and numbers.
    private var placeholders: [UInt64] = []
    /// The same, each with the word before the placeholder.
    private var places: [UInt64] = []

    /// How much of a live request a recorded one lacks; smaller is better.
    struct Lack: Sendable, Hashable, Comparable {
        var placeholders = 0
        var places = 0

        static func < (left: Lack, right: Lack) -> Bool {
            (left.placeholders, left.places) < (right.placeholders, right.places)
        }
    }

    init() {}

    init(_ login: ConnectionLogin) {
        self.placeholders = login.marks
        self.places = login.steps
    }

    /// - Parameter isRecorded: whether the texts are those of a recorded request.
    init(url: String, headers: HeaderFields, isRecorded: Bool) {
        var url = url
        url.withUTF8 { self += HeldPlaceholders(in: UnsafeRawBufferPointer($0), isRecorded: isRecorded) }
        headers.withBytes { self += HeldPlaceholders(in: $0, isRecorded: isRecorded) }
    }

    /// Also finds placeholders in base64 or hex, as in credentials (RFC 7617, 2), in UTF-16, or behind nested escapes, as in a URL within
    /// the query of another URL.
    ///
    /// - Parameter isRecorded: whether the text is that of a recorded request. A number in JSON has no kind. A live one may be any recorded
    ///   placeholder with its number.
    init(in bytes: UnsafeRawBufferPointer, isRecorded: Bool) {
        self.addUnescaped(bytes, isRecorded)
        for view in EscapeView.levels(of: bytes) { view.withUnsafeBytes { self.addUnescaped($0, isRecorded) } }
        // UTF-16 in either byte order.
        guard ByteSearch.contains("{\0{", in: bytes) else { return }
        bytes.filter { $0 != 0 }.withUnsafeBytes { self.add($0, isRecorded) }
    }

    var isEmpty: Bool { self.placeholders.isEmpty }

    static func += (left: inout HeldPlaceholders, right: HeldPlaceholders) {
        left.placeholders += right.placeholders
        left.places += right.places
    }

    static func + (left: HeldPlaceholders, right: HeldPlaceholders) -> HeldPlaceholders {
        var sum = left
        sum += right
        return sum
    }

    /// What of this live request a recorded one lacks.
    func lack(in recorded: HeldPlaceholders) -> Lack {
        Lack(
            placeholders: self.placeholders.count { !recorded.placeholders.contains($0) },
            places: self.places.count { !recorded.places.contains($0) })
    }

    private mutating func addUnescaped(_ bytes: UnsafeRawBufferPointer, _ isRecorded: Bool) {
        self.add(bytes, isRecorded)
        var scan = CodedRunScan(bytes, of: .placeholders)
        while self.placeholders.count < Self.limit, let run = scan.next() { run.content.withUnsafeBytes { self.add($0, isRecorded) } }
        for run in CodedNumbers.runs(in: bytes) where self.placeholders.count < Self.limit {
            run.content.withUnsafeBytes { self.add($0, isRecorded) }
        }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer, _ isRecorded: Bool) {
        var offset = 0
        while self.placeholders.count < Self.limit, let range = MatchMark.placeholder(in: bytes, from: offset) {
            if let (placeholder, _) = Placeholder.spelled(in: bytes, at: range.lowerBound) {
                // A client may capitalise a name that it received in lower case.
                let numbered = isRecorded ? [RequestProfile.hash("\(placeholder.number)")] : []
                self.add([RequestProfile.hash(placeholder.description.lowercased())] + numbered, at: range.lowerBound, in: bytes)
            }
            offset = range.upperBound
        }
        offset = 0
        while self.placeholders.count < Self.limit, let (range, number) = NumberPlaceholder.first(in: bytes, from: offset) {
            self.add([RequestProfile.hash("\(number)")], at: range.lowerBound, in: bytes)
            offset = range.upperBound
        }
    }

    private mutating func add(_ hashes: [UInt64], at offset: Int, in bytes: UnsafeRawBufferPointer) {
        self.placeholders += hashes
        let word = Self.word(before: offset, in: bytes)
        for hash in hashes {
            var hasher = Hasher()
            hasher.combine(hash)
            hasher.combine(word)
            self.places.append(UInt64(truncatingIfNeeded: hasher.finalize()))
        }
    }

    /// How far before a placeholder its word may begin.
    private static let reach = 64

    /// The name of a field, a member or an element, a segment of a path, or the number of the placeholder before.
    private static func word(before offset: Int, in bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let text = bytes[max(0, offset - Self.reach)..<offset]
        guard let last = text.lastIndex(where: Self.isOfWord) else { return [] }
        let start = text[..<last].lastIndex { !Self.isOfWord($0) }.map { $0 + 1 } ?? text.startIndex
        return text[start...last].map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 }
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte >= 0x80
    }
}
