internal import CassetteModel

/// Reads one placeholder, `{{KIND:NUMBER}}`, from octets that may end within it.
struct PlaceholderReader {
    private enum Step { case matched, failed, needsMore }

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        self.bytes = bytes
        self.offset = start
    }

    mutating func read() -> MatchMark.Finding {
        for _ in 0..<2 {
            if let finding = self.ends(self.take(UInt8(ascii: "{"), "%7B")) { return finding }
        }
        if let finding = self.ends(self.takeRun(limit: MatchMark.kindLimit, Self.isKind)) { return finding }
        if let finding = self.ends(self.take(UInt8(ascii: ":"), "%3A")) { return finding }
        if let finding = self.ends(self.takeRun(limit: MatchMark.digitLimit) { $0 >= 48 && $0 <= 57 }) { return finding }
        for _ in 0..<2 {
            if let finding = self.ends(self.take(UInt8(ascii: "}"), "%7D")) { return finding }
        }
        return .placeholder(end: self.offset)
    }

    private func ends(_ step: Step) -> MatchMark.Finding? {
        switch step {
        case .matched: nil
        case .failed: MatchMark.Finding.none
        case .needsMore: .needsMore
        }
    }

    /// An octet as it is or percent-encoded, in hex of either case.
    private mutating func take(_ octet: UInt8, _ escape: StaticString) -> Step {
        guard self.offset < self.bytes.count else { return .needsMore }
        if self.bytes[self.offset] == octet {
            self.offset += 1
            return .matched
        }
        for index in 0..<3 {
            guard self.offset + index < self.bytes.count else { return .needsMore }
            let expected = escape.utf8Start[index]
            let found = self.bytes[self.offset + index]
            guard found == expected || (expected >= 65 && found == expected | 32) else { return .failed }
        }
        self.offset += 3
        return .matched
    }

    /// At least one octet, at most `limit`; what follows decides whether a run was too long.
    private mutating func takeRun(limit: Int, _ isPart: (UInt8) -> Bool) -> Step {
        let start = self.offset
        while self.offset < self.bytes.count, self.offset - start < limit, isPart(self.bytes[self.offset]) { self.offset += 1 }
        if self.offset == self.bytes.count, self.offset - start < limit { return .needsMore }
        return self.offset > start ? .matched : .failed
    }

    private static func isKind(_ octet: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(octet) || octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_") || octet == UInt8(ascii: ".")
    }
}
