internal import CassetteFormat
internal import CassetteModel
internal import Dispatch
internal import TapeBytes

/// Finds the interactions in a cassette's file, and distinguishes a torn file from an invalid one.
///
/// Reads in pieces and never writes. The rules are in docs/cassette-format.md, "Writing and damage".
struct CassetteScanner {
    /// The result of scanning a file.
    struct Result {
        var index: CassetteIndex
        /// The summaries of all interactions, if requested.
        var summaries: InteractionSummaries
    }

    /// How many bytes justify a separate thread.
    private static let portionSize = 4 << 20
    private static let portionLimit = 8
    /// The beginning of an interaction as the recorder writes it. JSON strings cannot contain a line feed, so nothing else looks like it.
    private static let beginning = Array("\n    {\n      \"id\"".utf8)
    /// The unit that a disk writes completely or not at all. After a crash, older text can follow newer text only at a multiple of it.
    private static let sectorSize = 512
    /// A file with more damaged ranges is not read.
    private static let stretchLimit = 10_000

    private let path: String
    private let size: Int
    private var followed: Followed
    private var structure: CassetteStructure { self.followed.structure }
    private var stretches: [CassetteDamage.Stretch] = []
    /// A line number and its offset, from which counting continues.
    private var line = (number: 1, offset: 0)

    static func scan(_ file: borrowing OpenFile) throws(CassetteError) -> CassetteIndex {
        var scanner = CassetteScanner(path: file.path, size: try file.size(), summarizes: false)
        return try scanner.run(file).index
    }

    /// Scans a long file on several threads.
    ///
    /// - Parameter portions: the most portions; nil to decide by the size of the file and the number of processors.
    static func summarize(_ shared: SharedFile, portions: Int? = nil) throws(CassetteError) -> Result {
        let size = try shared.file.size()
        let count = portions ?? min(ProcessorCount.usable, Self.portionLimit, size / Self.portionSize)
        if count > 1, let result = try Self.scan(shared, size: size, portions: count) { return result }
        var scanner = CassetteScanner(path: shared.file.path, size: size, summarizes: true)
        return try scanner.run(shared.file)
    }

    private init(path: String, size: Int, summarizes: Bool) {
        self.path = path
        self.size = size
        self.followed = Followed(summaries: summarizes ? InteractionSummaries() : nil)
    }

    private mutating func run(_ file: borrowing OpenFile) throws(CassetteError) -> Result {
        var next: Int? = 0
        while let offset = next {
            try self.followed.follow(file, in: offset..<self.size)
            if self.structure.problem == nil, self.structure.isComplete {
                guard self.structure.hasVersion, self.structure.headEnd != nil || !self.stretches.isEmpty else { throw self.notACassette() }
                break
            }
            next = try self.leaveOut(file)
            if let next { self.followed.structure.resume(at: next) }
        }
        let index = CassetteIndex(
            size: self.size, headEnd: self.structure.headEnd, interactions: self.structure.interactions, arrayEnd: self.structure.arrayEnd,
            documentEnd: self.structure.documentEnd, damage: self.stretches, oldVersion: self.structure.oldVersion)
        return Result(index: index, summaries: self.followed.summaries ?? InteractionSummaries())
    }

    // MARK: On several threads

    /// A part of the file and its content.
    private struct Followed: Sendable {
        var structure = CassetteStructure()
        var summaries: InteractionSummaries?

        mutating func follow(_ file: borrowing OpenFile, in range: Range<Int>) throws(CassetteError) {
            // Swapped rather than copied, since a copy would include the lists.
            var own = Followed()
            swap(&own, &self)
            defer { swap(&own, &self) }
            try file.forEachPiece(in: range) { bytes, offset throws(CassetteError) in
                let known = own.structure.interactions.count
                own.structure.consume(bytes, at: offset)
                try own.summarize(from: known, bytes, at: offset, file)
                return own.structure.problem == nil
            }
        }

        private mutating func summarize(
            from known: Int, _ bytes: UnsafeRawBufferPointer, at offset: Int, _ file: borrowing OpenFile
        ) throws(CassetteError) {
            guard self.summaries != nil else { return }
            for range in self.structure.interactions[known...] {
                if range.lowerBound >= offset {
                    self.summaries?.append(UnsafeRawBufferPointer(rebasing: bytes[range.lowerBound - offset..<range.upperBound - offset]))
                } else {
                    // The interaction began in an earlier piece.
                    let text = try file.read(range)
                    text.withUnsafeBytes { self.summaries?.append($0) }
                }
            }
        }
    }

    /// Scans portions that each begin with an interaction, as if each continued the previous one. Nil if one does not, or anything is
    /// wrong; then the file has to be scanned from its beginning.
    private static func scan(_ shared: SharedFile, size: Int, portions: Int) throws(CassetteError) -> Result? {
        var starts = [0]
        for number in 1..<portions {
            let from = max(size / portions * number, (starts.last ?? 0) + 1)
            guard from < size, let start = try shared.file.firstOffset(of: Self.beginning, in: from..<size) else { break }
            starts.append(start)
        }
        let ranges = zip(starts, starts.dropFirst() + [size]).map { $0..<$1 }
        let done = Guarded<[Swift.Result<Followed, CassetteError>?]>(Array(repeating: nil, count: ranges.count))
        DispatchQueue.concurrentPerform(iterations: ranges.count) { number in
            var followed = Followed(summaries: InteractionSummaries())
            if number > 0 { followed.structure.resume(at: ranges[number].lowerBound) }
            let result: Swift.Result<Followed, CassetteError>
            do throws(CassetteError) {
                try followed.follow(shared.file, in: ranges[number])
                result = .success(followed)
            } catch {
                result = .failure(error)
            }
            done.withLock { $0[number] = result }
        }
        var parts: [Followed] = []
        for result in done.withLock({ $0 }) {
            guard let part = try result?.get() else { return nil }
            parts.append(part)
        }
        return self.joined(parts, size: size)
    }

    private static func joined(_ parts: [Followed], size: Int) -> Result? {
        guard let first = parts.first?.structure, let last = parts.last?.structure, first.hasVersion, first.headEnd != nil, last.isComplete,
            parts.allSatisfy({ $0.structure.problem == nil }), parts.dropLast().allSatisfy({ $0.structure.isBeforeInteraction }),
            // A second list of interactions, or another version after them, can only be handled with knowledge of the first.
            parts.dropFirst().allSatisfy({ $0.structure.headEnd == nil && !$0.structure.hasVersion })
        else { return nil }
        var index = CassetteIndex(
            size: size, headEnd: first.headEnd, arrayEnd: last.arrayEnd, documentEnd: last.documentEnd, oldVersion: first.oldVersion)
        index.interactions.reserveCapacity(parts.reduce(0) { $0 + $1.structure.interactions.count })
        var summaries = InteractionSummaries()
        for part in parts {
            index.interactions += part.structure.interactions
            if let others = part.summaries { summaries.append(others) }
        }
        return Result(index: index, summaries: summaries)
    }

    // MARK: Damage

    /// Notes the range around a problem, or throws if the file is invalid. Returns where to continue.
    private mutating func leaveOut(_ file: borrowing OpenFile) throws(CassetteError) -> Int? {
        if case .unsupportedVersion(let text) = self.structure.problem { throw self.unsupportedVersion(text) }
        if self.structure.headEnd == nil, self.stretches.isEmpty { return try self.leaveOutHead(file) }
        guard self.structure.hasVersion else { throw self.notACassette() }

        let start = self.structure.mark
        let isEnd = self.structure.problem == nil
        let offset = isEnd ? self.size : self.structure.problemOffset
        let isInside = self.structure.isInsideInteraction
        let next = try file.firstOffset(of: Self.beginning, in: (isInside ? start + 1 : start)..<self.size)
        let stretch = start..<(next ?? self.size)

        let reason: String
        if let bad = try self.firstBad(file, in: stretch) {
            reason = bad
        } else if isEnd, next == nil, try !self.isCutInDoubt(file) {
            reason = "the end is missing"
        } else if !isInside, self.hasSectorEdge(between: start, and: offset) {
            reason = "the data after a sector boundary is from an older write"
        } else if try self.isLeftover(file) {
            reason = "the last write stopped in its first bytes"
        } else if next == nil, self.structure.documentEnd != nil {
            // The document is complete, and the text after it contains no exchange.
            reason = "text follows the end"
        } else if next == nil, try !self.endsClosed(file) {
            reason = "the end is missing"
        } else {
            throw try self.wrong(file, at: offset)
        }
        try self.note(file, stretch, reason: reason, interactions: reason == Self.notText ? nil : isInside ? 1 : 0)
        return next
    }

    /// Like `leaveOut`, for the part before the interactions.
    private mutating func leaveOutHead(_ file: borrowing OpenFile) throws(CassetteError) -> Int? {
        let isEnd = self.structure.problem == nil
        if try self.isAllZero(file) {
            let reason = self.size == 0 ? "the file is empty" : "the file holds zeros only"
            try self.note(file, 0..<self.size, reason: reason, interactions: self.size == 0 ? 0 : nil)
            return nil
        }
        guard self.structure.hasVersion else {
            guard isEnd, try self.isBeginningOfHead(file) else { throw self.notACassette() }
            try self.note(file, 0..<self.size, reason: "the end is missing", interactions: 0)
            return nil
        }
        if isEnd, !self.structure.isComplete {
            try self.note(file, 0..<self.size, reason: "the end is missing", interactions: 0)
            return nil
        }
        let start = self.structure.mark
        let next = try file.firstOffset(of: Self.beginning, in: start..<self.size)
        guard try self.firstBad(file, in: start..<(next ?? self.size)) != nil else {
            throw try self.wrong(file, at: isEnd ? self.size : self.structure.problemOffset)
        }
        try self.note(file, start..<(next ?? self.size), reason: Self.notText, interactions: nil)
        return next
    }

    private static let notText = "it has bytes that are not text"

    private mutating func note(_ file: borrowing OpenFile, _ bytes: Range<Int>, reason: String, interactions: Int?) throws(CassetteError) {
        guard self.stretches.count < Self.stretchLimit else {
            throw CassetteError(.damaged, "\"\(self.path)\" has more than \(Self.stretchLimit) damaged places; restore it from a copy")
        }
        let line = try self.lineNumber(file, at: bytes.lowerBound)
        self.stretches.append(CassetteDamage.Stretch(bytes: bytes, line: line, reason: reason, interactions: interactions))
    }

    private func firstBad(_ file: borrowing OpenFile, in range: Range<Int>) throws(CassetteError) -> String? {
        var check = TextCheck()
        var isBad = false
        try file.forEachPiece(in: range) { bytes, _ in
            isBad = check.firstBad(in: bytes) != nil
            return !isBad
        }
        // A character cut by the end of the file only shows that the file was cut.
        return isBad || (check.isInsideCharacter && range.upperBound < self.size) ? Self.notText : nil
    }

    private func hasSectorEdge(between start: Int, and offset: Int) -> Bool {
        let edge = offset / Self.sectorSize * Self.sectorSize
        return edge >= start && edge > 0
    }

    /// Whether the file ends like a write over the closing brackets that stopped within them.
    private func isLeftover(_ file: borrowing OpenFile) throws(CassetteError) -> Bool {
        guard let insertion = self.structure.interactions.last?.upperBound ?? self.structure.headEnd, self.size - insertion <= 8 else {
            return false
        }
        let rest = try file.read(insertion..<self.size)
        let isFirst = self.structure.interactions.isEmpty
        let old = isFirst ? CassetteLayout.emptyClosing : CassetteLayout.closing
        let new = Array((isFirst ? "\n    {\n" : ",\n    {\n").utf8)
        return (1..<old.count).contains { new[..<$0] + old[$0...] == rest[...] }
    }

    /// Whether the closing brackets seem to be present, without following the structure.
    private func endsClosed(_ file: borrowing OpenFile) throws(CassetteError) -> Bool {
        var rest = try file.read(max(0, self.size - 256)..<self.size)
        while let last = rest.last, last == 0x20 || (last >= 9 && last <= 13) { rest.removeLast() }
        guard rest.popLast() == UInt8(ascii: "}") else { return false }
        // In the recorder's own layout, a brace at the beginning of a line ends the document.
        if rest.last == 0x0a { return true }
        return try !self.isOwnLayout(file)
    }

    /// Whether a file that ends within a string may have all its brackets, with only the closing quote missing.
    ///
    /// In the recorder's own layout, the line end in the string decides.
    private func isCutInDoubt(_ file: borrowing OpenFile) throws(CassetteError) -> Bool {
        guard self.structure.isInString, try !self.isOwnLayout(file) else { return false }
        var rest = try file.read(max(0, self.size - 256)..<self.size)
        rest.removeAll { $0 == 0x20 || ($0 >= 9 && $0 <= 13) }
        return rest.suffix(2) == Array("]}".utf8)
    }

    private func isOwnLayout(_ file: borrowing OpenFile) throws(CassetteError) -> Bool {
        guard let headEnd = self.structure.headEnd, headEnd + Self.beginning.count <= self.size else { return true }
        return try file.read(headEnd..<(headEnd + Self.beginning.count)) == Self.beginning
    }

    private func isAllZero(_ file: borrowing OpenFile) throws(CassetteError) -> Bool {
        var isZero = true
        try file.forEachPiece(in: 0..<self.size) { bytes, _ in
            isZero = bytes.allSatisfy { $0 == 0 }
            return isZero
        }
        return isZero
    }

    private func isBeginningOfHead(_ file: borrowing OpenFile) throws(CassetteError) -> Bool {
        let heads = CassetteIndex.readable.map(CassetteLayout.beginning(of:))
        guard let longest = heads.map(\.count).max(), self.size <= longest else { return false }
        let bytes = try file.read(0..<self.size)
        return heads.contains { $0.starts(with: bytes) }
    }

    private mutating func lineNumber(_ file: borrowing OpenFile, at offset: Int) throws(CassetteError) -> Int {
        var number = self.line.number
        try file.forEachPiece(in: min(self.line.offset, offset)..<offset) { bytes, _ in
            for byte in bytes where byte == 0x0a { number += 1 }
            return true
        }
        self.line = (number, offset)
        return number
    }

    private mutating func wrong(_ file: borrowing OpenFile, at offset: Int) throws(CassetteError) -> CassetteError {
        let line = try self.lineNumber(file, at: offset)
        let what: String
        switch self.structure.problem {
        case .unexpected(let byte), .inString(let byte):
            what =
                byte == 0x0a || byte == 0x0d
                ? "a string has no closing quote"
                : byte < 0x20 || byte >= 0x7f
                    ? "a byte \(byte) is not expected here" : "\"\(Character(Unicode.Scalar(byte)))\" is not expected here"
        case .tooDeep: what = "it is nested more than \(CassetteStructure.depthLimit) levels deep"
        case .unsupportedVersion, nil: what = "something is missing before the end"
        }
        return CassetteError(.damaged, "\(self.path):\(line): \(what); correct the line or restore the file from a copy")
    }

    private func notACassette() -> CassetteError {
        CassetteError(.damaged, "\(self.path):1: not a cassette: it has no \"wiretape\" version and \"interactions\"; name another file")
    }

    private func unsupportedVersion(_ text: String) -> CassetteError {
        guard let version = Int(text), version > CassetteIndex.version else { return self.notACassette() }
        return CassetteError(
            .unsupportedVersion,
            "\"\(self.path)\" is of version \(version), and this wiretape reads version \(CassetteIndex.readable.lowerBound) and version \(CassetteIndex.version); use a newer wiretape"
        )
    }
}

/// Finds bytes that text cannot contain: control characters except tab and line ends, and invalid UTF-8 (RFC 3629).
///
/// Takes the bytes in pieces; knows nothing about JSON.
struct TextCheck {
    /// How many continuation bytes are still missing, and the range of the next one.
    private var missing = 0
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xbf

    /// Whether a character has begun but is not complete.
    var isInsideCharacter: Bool { self.missing > 0 }

    /// The offset of the first invalid byte.
    mutating func firstBad(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let count = bytes.count
        var offset = 0
        // SAFETY: every load below is preceded by a comparison of its end with `count`.
        while offset < count {
            if self.missing == 0 {
                while offset &+ 8 <= count {
                    let word = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    // The top bit of each byte that is at least 0x80 or below 0x20.
                    let flags = (word | (word &- 0x2020_2020_2020_2020 & ~word)) & 0x8080_8080_8080_8080
                    if flags != 0 { break }
                    offset &+= 8
                }
                guard offset < count else { return nil }
            }
            let byte = base.load(fromByteOffset: offset, as: UInt8.self)
            guard self.accept(byte) else { return offset }
            offset &+= 1
        }
        return nil
    }

    /// Takes the next byte. False if it cannot occur there in text.
    mutating func accept(_ byte: UInt8) -> Bool {
        if self.missing > 0 {
            guard byte >= self.low, byte <= self.high else { return false }
            self.missing &-= 1
            self.low = 0x80
            self.high = 0xbf
            return true
        }
        switch byte {
        case 0x20..<0x80, 9, 10, 13: return true
        case 0xc2...0xdf: self.missing = 1
        case 0xe0...0xef:
            self.missing = 2
            if byte == 0xe0 { self.low = 0xa0 }
            if byte == 0xed { self.high = 0x9f }
        case 0xf0...0xf4:
            self.missing = 3
            if byte == 0xf0 { self.low = 0x90 }
            if byte == 0xf4 { self.high = 0x8f }
        default: return false
        }
        return true
    }
}
