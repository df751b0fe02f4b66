internal import CassetteModel
public import TapeBytes

/// Moves written dates by whole seconds. Keeps their spelling and length, except that a Unix time may gain a digit.
///
/// Returns nil for a text without a known spelling, or a date outside of the years 0 to 9999.
public struct DateShift: Sendable, Hashable {
    public let seconds: Int64

    public init(seconds: Int64) { self.seconds = seconds }

    /// From the moment of the recording to that of the replay, in whole seconds, so that dates in all spellings move by the same amount.
    public init(from recorded: Timestamp, to now: Timestamp) {
        self.seconds = (now.microseconds - recorded.microseconds) / 1_000_000
    }

    /// `Sat, 21 Nov 2026 04:19:28 GMT` and the other spellings used in HTTP and cookies (RFC 9110, 5.6.7).
    public func shifted(httpDate text: String) -> String? {
        guard let date = WrittenDate(text), let moved = self.moved(date.time) else { return nil }
        return date.spelled(moved)
    }

    /// `2026-11-21T04:19:28Z` (RFC 3339) with any number of decimals, any offset, and optionally a space or lower-case letter for `T` or
    /// `Z`.
    public func shifted(rfc3339 text: String) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 64, "Tt ".utf8.contains(bytes[10]), Self.isTail(bytes[19...]) else { return nil }
        let date = String(decoding: bytes[..<10], as: UTF8.self)
        let time = String(decoding: bytes[11..<19], as: UTF8.self)
        guard let local = Timestamp("\(date)T\(time)Z"), let moved = self.moved(local) else { return nil }
        let digits = Array(moved.formatted.utf8)
        return String(decoding: digits[..<10] + [bytes[10]] + digits[11..<19] + bytes[19...], as: UTF8.self)
    }

    /// Whether a text is optional decimals of a second and an offset.
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

    /// `1795234768`, `1795234768.25` or, in milliseconds, `1795234768123`. Covers the years 1973 to 5138, in which the two units cannot be
    /// confused.
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

    /// A date in any of these spellings.
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

/// A date in one of the three spellings of HTTP (RFC 9110, 5.6.7), or with the dashes and two-digit years of cookies.
///
/// Parses a date and spells another moment the same way. The day of the week may be wrong.
package struct WrittenDate {
    private enum Spelling {
        /// `Sun, 06 Nov 1994 08:49:37 GMT`, with spaces or dashes in the date.
        case fixed(separator: Character)
        /// `Sunday, 06-Nov-94 08:49:37 GMT`, or with a short name of the day.
        case shortYear(hasLongDay: Bool)
        /// `Sun Nov  6 08:49:37 1994`
        case asctime
    }

    private static let days = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    package let time: Timestamp
    private let spelling: Spelling

    package init?(_ text: String) {
        guard text.utf8.count <= 40, text.utf8.allSatisfy({ $0 >= 32 && $0 < 127 }) else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        switch (words.count, words.last) {
        case (6, "GMT"):
            self.init(day: words[0], words[1], words[2], words[3], words[4], .fixed(separator: " "))
        case (4, "GMT"):
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3 else { return nil }
            if date[2].utf8.count == 4 {
                self.init(day: words[0], date[0], date[1], date[2], words[2], .fixed(separator: "-"))
            } else {
                guard let year = Int(date[2]), date[2].utf8.count == 2, date[2].utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
                // RFC 6265, 5.1.1: years below 70 are in this century.
                let whole = String(year < 70 ? 2000 + year : 1900 + year)
                self.init(day: words[0], date[0], date[1], whole[...], words[2], .shortYear(hasLongDay: words[0].utf8.count > 4))
            }
        case (5, _): self.init(day: words[0] + ",", words[2], words[1], words[4], words[3], .asctime)
        case (6, _) where words[2].isEmpty:
            self.init(day: words[0] + ",", "0" + words[3], words[1], words[5], words[4], .asctime)
        default: return nil
        }
    }

    private init?(
        day: Substring, _ date: Substring, _ month: Substring, _ year: Substring, _ time: Substring, _ spelling: Spelling
    ) {
        let name = day.dropLast().lowercased()
        let isDay = Self.days.contains { $0.lowercased() == name || $0.prefix(3).lowercased() == name }
        guard isDay, day.last == ",", date.utf8.count == 2, year.utf8.count == 4, time.utf8.count == 8,
            let index = Self.months.firstIndex(where: { $0.lowercased() == month.lowercased() }),
            let time = Timestamp("\(year)-\(index < 9 ? "0" : "")\(index + 1)-\(date)T\(time)Z")
        else { return nil }
        self.time = time
        self.spelling = spelling
    }

    /// Spells another moment of the years 0 to 9999, rounded down to the second.
    func spelled(_ time: Timestamp) -> String? {
        let number = time.microseconds / 86_400_000_000 - (time.microseconds % 86_400_000_000 < 0 ? 1 : 0)
        let day = Self.days[Int(((number % 7) + 7) % 7)]
        let digits = time.formatted.split { "-T:.Z".contains($0) }
        guard digits.count >= 6, let month = Int(digits[1]), let date = Int(digits[2]) else { return nil }
        let clock = "\(digits[3]):\(digits[4]):\(digits[5])"
        let name = Self.months[month - 1]
        switch self.spelling {
        case .fixed(let separator): return "\(day.prefix(3)), \(digits[2])\(separator)\(name)\(separator)\(digits[0]) \(clock) GMT"
        case .shortYear(let hasLongDay):
            return "\(hasLongDay ? day : String(day.prefix(3))), \(digits[2])-\(name)-\(digits[0].suffix(2)) \(clock) GMT"
        case .asctime: return "\(day.prefix(3)) \(name) \(date < 10 ? " " : "")\(date) \(clock) \(digits[0])"
        }
    }
}
