public import TapeBytes
internal import CassetteModel

/// Moves written dates by whole seconds and keeps their spelling: as many octets in as out, but for Unix times that gain a digit.
///
/// What is not one of the known spellings, or would leave the years 0 to 9999, is nil.
public struct DateShift: Sendable, Hashable {
    public let seconds: Int64

    public init(seconds: Int64) { self.seconds = seconds }

    /// From the moment of the recording to that of the replay, in whole seconds: so all spellings move by the same.
    public init(from recorded: Timestamp, to now: Timestamp) {
        self.seconds = (now.microseconds - recorded.microseconds) / 1_000_000
    }

    /// `Sat, 21 Nov 2026 04:19:28 GMT` and the other spellings that HTTP and cookies have (RFC 9110, 5.6.7).
    public func shifted(httpDate text: String) -> String? {
        guard let date = WrittenDate(text), let moved = self.moved(date.time) else { return nil }
        return date.spelled(moved)
    }

    /// `2026-11-21T04:19:28Z` (RFC 3339) with any number of decimals, any offset, and a space or a small letter where those stand.
    public func shifted(rfc3339 text: String) -> String? {
        let octets = Array(text.utf8)
        guard octets.count >= 20, octets.count <= 64, "Tt ".utf8.contains(octets[10]), Self.isTail(octets[19...]) else { return nil }
        let date = String(decoding: octets[..<10], as: UTF8.self)
        let time = String(decoding: octets[11..<19], as: UTF8.self)
        guard let local = Timestamp("\(date)T\(time)Z"), let moved = self.moved(local) else { return nil }
        let digits = Array(moved.formatted.utf8)
        return String(decoding: digits[..<10] + [octets[10]] + digits[11..<19] + octets[19...], as: UTF8.self)
    }

    /// Decimals of a second, and an offset.
    private static func isTail(_ tail: ArraySlice<UInt8>) -> Bool {
        var rest = tail
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            let decimals = rest.prefix { 48...57 ~= $0 }
            guard !decimals.isEmpty else { return false }
            rest = rest.dropFirst(decimals.count)
        }
        let offset = Array(rest)
        if offset.count == 1 { return offset[0] == UInt8(ascii: "Z") || offset[0] == UInt8(ascii: "z") }
        guard offset.count == 6, offset[0] == UInt8(ascii: "+") || offset[0] == UInt8(ascii: "-") else { return false }
        return offset[3] == UInt8(ascii: ":") && [1, 2, 4, 5].allSatisfy { 48...57 ~= offset[$0] }
    }

    /// `1795234768`, `1795234768.25` or, in milliseconds, `1795234768123`: of the years 1973 to 5138, where one cannot be the other.
    public func shifted(unixTime text: String) -> String? {
        let whole = text.prefix { $0 != "." }
        let rest = text.dropFirst(whole.count)
        guard whole.utf8.allSatisfy({ 48...57 ~= $0 }), whole.first != "0", let time = Int64(whole) else { return nil }
        guard rest.isEmpty || rest.count > 1, rest.dropFirst().utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        let isSeconds = (100_000_000..<100_000_000_000).contains(time)
        guard isSeconds || (100_000_000_000..<100_000_000_000_000).contains(time) else { return nil }
        let (step, tooLarge) = isSeconds ? (self.seconds, false) : self.seconds.multipliedReportingOverflow(by: 1000)
        let (moved, overflows) = time.addingReportingOverflow(step)
        guard !tooLarge, !overflows, moved >= 0 else { return nil }
        return "\(moved)\(rest)"
    }

    /// In any of these spellings.
    public func shifted(_ text: String) -> String? {
        self.shifted(rfc3339: text) ?? self.shifted(httpDate: text) ?? self.shifted(unixTime: text)
    }

    private func moved(_ time: Timestamp) -> Timestamp? {
        let (step, tooLarge) = self.seconds.multipliedReportingOverflow(by: 1_000_000)
        let (moved, overflows) = time.microseconds.addingReportingOverflow(step)
        guard !tooLarge, !overflows, Self.years.contains(moved) else { return nil }
        return Timestamp(microseconds: moved)
    }

    /// The years 0 to 9999, in microseconds.
    private static let years: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999
}
