internal import TapeBytes

/// Tells whether a recorded text with marks fits a live one.
///
/// Only the last mark is tried at other lengths. The separators are literal in the recorded text, so an earlier mark never needs to be
/// retried.
struct MarkFitting {
    private enum Zone { case url, query, fields }

    /// How often a live text is decoded: a mark before a coded run allows it to begin at many offsets.
    private static let decodingLimit = 64

    private let recorded: UnsafeRawBufferPointer
    private let live: UnsafeRawBufferPointer
    private let isHeadKey: Bool

    init(_ recorded: UnsafeRawBufferPointer, _ live: UnsafeRawBufferPointer, isHeadKey: Bool) {
        self.recorded = recorded
        self.live = live
        self.isHeadKey = isHeadKey
    }

    func fits() -> Bool {
        // Most texts have no marks in base64 or hex, and most that differ do so before the first one.
        let (fits, furthest) = self.fits(with: [])
        guard !fits else { return true }
        let runs = CodedMarks.runs(in: self.recorded)
        guard let first = runs.first, first.range.lowerBound <= furthest else { return false }
        return self.fits(with: runs).fits
    }

    /// - Returns: also the furthest offset of the recorded text that was compared.
    private func fits(with runs: [CodedRun]) -> (fits: Bool, furthest: Int) {
        var position = 0
        var offset = 0
        var run = 0
        var zone = self.isHeadKey ? Zone.url : .fields
        var retry: (position: Int, offset: Int, run: Int, zone: Zone)?
        var furthest = 0
        var decodings = 0
        while true {
            furthest = max(furthest, position)
            if self.isMark(at: position) {
                guard offset < self.live.count, self.mayStandForMark(self.live[offset], zone) else { return (false, furthest) }
                position += MatchMark.bytes.count
                offset += 1
                retry = (position, offset, run, zone)
                continue
            }
            if position == self.recorded.count, offset == self.live.count { return (true, furthest) }
            if run < runs.count, position == runs[run].range.lowerBound {
                decodings += 1
                guard decodings <= Self.decodingLimit else { return (false, furthest) }
                if let end = self.end(of: runs[run], at: offset) {
                    position = runs[run].range.upperBound
                    offset = end
                    run += 1
                    continue
                }
            } else if position < self.recorded.count, offset < self.live.count, self.recorded[position] == self.live[offset] {
                if self.isHeadKey {
                    if self.live[offset] == 10 {
                        zone = .fields
                    } else if self.live[offset] == UInt8(ascii: "?"), zone == .url {
                        zone = .query
                    }
                }
                position += 1
                offset += 1
                continue
            }
            guard let last = retry, last.offset < self.live.count, self.mayStandForMark(self.live[last.offset], last.zone) else {
                return (false, furthest)
            }
            retry = (last.position, last.offset + 1, last.run, last.zone)
            (position, offset, run, zone) = (last.position, last.offset + 1, last.run, last.zone)
        }
    }

    private func isMark(at position: Int) -> Bool {
        self.recorded.count - position >= MatchMark.bytes.count && self.recorded[position] == UInt8(ascii: "{")
            && MatchMark.bytes.elementsEqual(self.recorded[position..<position + MatchMark.bytes.count])
    }

    private func mayStandForMark(_ byte: UInt8, _ zone: Zone) -> Bool {
        guard self.isHeadKey else { return true }
        return switch zone {
        case .url: byte != UInt8(ascii: "/") && byte != UInt8(ascii: "@") && byte != UInt8(ascii: "?") && byte != 10
        case .query: byte != UInt8(ascii: "&") && byte != 10
        case .fields: byte != 10
        }
    }

    /// The end of the live run that begins at an offset, if its content fits a recorded run.
    private func end(of recorded: CodedRun, at offset: Int) -> Int? {
        guard let live = CodedRun(recorded.form, in: self.live, at: offset) else { return nil }
        if Self.fits(recorded.content, live.content) { return live.range.upperBound }
        // The path continues after the run, but its slash was read as a character of base64.
        guard recorded.form == .base64, recorded.range.upperBound < self.recorded.count,
            self.recorded[recorded.range.upperBound] == UInt8(ascii: "/"),
            let slash = self.live[live.range].firstIndex(of: UInt8(ascii: "/")),
            let segment = CodedRun(.base64, in: UnsafeRawBufferPointer(rebasing: self.live[..<slash]), at: offset),
            Self.fits(recorded.content, segment.content)
        else { return nil }
        return segment.range.upperBound
    }

    private static func fits(_ recorded: [UInt8], _ live: [UInt8]) -> Bool {
        recorded.withUnsafeBytes { recorded in live.withUnsafeBytes { MatchMark.value(recorded, fits: $0) } }
    }
}
