internal import CassetteModel
internal import TapeBytes

/// The digests that bodies had before redaction changed them.
///
/// Other messages may refer to them: the `integrity` attribute of a page, the manifest of a container image, a package index. A client that
/// checks such a digest refuses the redacted body. Any thread may use it.
public final class RedactedDigests: Sendable {
    /// A body that redaction changed.
    public struct Body: Sendable, Hashable {
        /// `GET http://…`
        public var request: String
        /// The SHA-256 of the original body, as bytes.
        public var digest: [UInt8]
    }

    /// A digest that occurs in a text.
    public struct Reference: Sendable, Hashable {
        public var body: Body
        public var algorithm: Algorithm
    }

    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        case md5 = "MD5"
        case sha1 = "SHA-1"
        case sha256 = "SHA-256"
        case sha384 = "SHA-384"
        case sha512 = "SHA-512"

        var checksum: BodyChecksum {
            switch self {
            case .md5: .md5
            case .sha1: .sha1
            case .sha256: .sha256
            case .sha384: .sha384
            case .sha512: .sha512
            }
        }
    }

    private struct State {
        var bodies: [Body] = []
        var references: [[UInt8]: (body: Int, algorithm: Algorithm)] = [:]
    }

    /// Further digests are not remembered.
    private static let limit = 1 << 14

    private let state = Guarded(State())

    public init() {}

    public var isEmpty: Bool { self.state.withLock { $0.bodies.isEmpty } }

    /// Remembers the digests of a body.
    ///
    /// - Parameters:
    ///   - wire: the body as it came off the wire.
    ///   - content: the body without its codings, if a page may refer to the digest of that; nil otherwise.
    func add(_ wire: [UInt8], content: [UInt8]? = nil, request: String) {
        guard !wire.isEmpty, self.state.withLock({ $0.bodies.count < Self.limit }) else { return }
        let digests = Algorithm.allCases.map { ($0, $0.checksum.value(of: wire)) }
        let others = content.map { content in Algorithm.allCases.map { ($0, $0.checksum.value(of: content)) } } ?? []
        let name = BodyChecksum.sha256.value(of: wire)
        self.state.withLock { state in
            let number = state.bodies.count
            state.bodies.append(Body(request: request, digest: name))
            for (algorithm, digest) in digests + others where state.references[digest] == nil {
                state.references[digest] = (number, algorithm)
            }
        }
    }

    /// The digests that a text contains in hexadecimal digits or base64, without duplicates. Escapes of URLs, JSON and HTML may be nested.
    public func references(in text: UnsafeRawBufferPointer) -> [Reference] {
        let state = self.state.withLock { $0 }
        guard !state.bodies.isEmpty else { return [] }
        var found: [Reference] = []
        func search(_ text: UnsafeRawBufferPointer) {
            DigestWords.forEach(in: text) { digest in
                guard let (body, algorithm) = state.references[digest] else { return }
                let reference = Reference(body: state.bodies[body], algorithm: algorithm)
                if !found.contains(reference) { found.append(reference) }
            }
        }
        search(text)
        for view in EscapeView.levels(of: text) { view.withUnsafeBytes { search($0) } }
        return found
    }
}

/// Finds possible digests in a text: in hexadecimal digits, base64 or its URL-safe alphabet, with or without percent-encoding and JSON
/// escapes.
enum DigestWords {
    /// Length of the shortest digest: MD5 in base64 without padding.
    private static let shortest = 22
    /// Longer runs are data, not digests.
    private static let longest = 4096
    /// Lengths of digests in base64 without padding: MD5, SHA-1, SHA-256, SHA-384, SHA-512.
    private static let base64Lengths = [22, 27, 43, 64, 86]
    private static let hexLengths = [32, 40, 64, 96, 128]

    /// Only probes every 22nd byte, since a digest has at least that many characters in a row.
    static func forEach(in text: UnsafeRawBufferPointer, _ body: (_ digest: [UInt8]) -> Void) {
        var start = 0
        while start + self.shortest <= text.count {
            guard self.isInRun(text[start + self.shortest - 1]) else {
                start += self.shortest
                continue
            }
            var (first, end) = (start + self.shortest - 1, start + self.shortest)
            while first > start, self.isInRun(text[first - 1]) { first -= 1 }
            while end < text.count, self.isInRun(text[end]) { end += 1 }
            if end - first >= self.shortest, end - first <= self.longest {
                for word in self.words(UnsafeRawBufferPointer(rebasing: text[first..<end])) { self.digests(of: word, body) }
            }
            start = end + 1
        }
    }

    /// Whether a byte may be in a run, including escapes.
    private static func isInRun(_ byte: UInt8) -> Bool {
        self.isOfBase64(byte) || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\")
    }

    private static func isOfBase64(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
    }

    /// The run without escapes, split at escaped characters that are not base64.
    private static func words(_ run: UnsafeRawBufferPointer) -> [[UInt8]] {
        var words: [[UInt8]] = [[]]
        var index = 0
        while index < run.count {
            var byte = run[index]
            index += 1
            if byte == UInt8(ascii: "\\") {
                // Handles `\/`, and `\n` before another word.
                while index < run.count, run[index] == UInt8(ascii: "\\") { index += 1 }
                if index < run.count, run[index] != UInt8(ascii: "/") {
                    index += 1
                    words.append([])
                }
                continue
            }
            if byte == UInt8(ascii: "%") {
                guard index + 1 < run.count, let high = Hex.value(run[index]), let low = Hex.value(run[index + 1]) else {
                    words.append([])
                    continue
                }
                byte = high << 4 | low
                index += 2
            }
            if self.isOfBase64(byte) { words[words.count - 1].append(byte) } else { words.append([]) }
        }
        return words.filter { $0.count >= self.shortest }
    }

    private static func digests(of word: [UInt8], _ body: (_ digest: [UInt8]) -> Void) {
        for part in word.split(whereSeparator: { !FormSpelling.isAlphanumeric($0) }) where self.hexLengths.contains(part.count) {
            if let digest = Hex.decode(part) { body(digest) }
        }
        // A prefix such as `sha256-`, or a folder, may precede it.
        for length in self.base64Lengths where word.count == length || word.count > length && self.isMark(word[word.count - length - 1]) {
            let text = word.suffix(length).map {
                $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
            }
            let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - length % 4) % 4)
            if let digest = Base64.decode(text + padding) { body(digest) }
        }
    }

    private static func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "/") }
}
