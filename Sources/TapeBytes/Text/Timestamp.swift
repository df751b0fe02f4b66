internal import Platform

/// An instant in UTC, in whole microseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Sendable, Hashable, Comparable {
    public var microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The time of the wall clock.
    public static var now: Timestamp {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }
}

extension Timestamp: CustomStringConvertible {
    /// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z: the range of a four-digit year.
    private static let range: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999

    public var description: String { self.formatted }

    /// Such as `2026-11-21T04:19:28.123456Z`; a time outside the years 0 to 9999 becomes the nearest within them.
    public var formatted: String {
        // SAFETY: `write` sets a character at each index from 0 to 26.
        String(unsafeUninitializedCapacity: 27) { buffer in
            self.write { index, byte in buffer[index] = byte }
            return 27
        }
    }

    /// Passes on the 27 characters of `formatted` without making a string.
    @inline(__always)
    package func write(_ put: (Int, UInt8) -> Void) {
        let microseconds = min(max(self.microseconds, Self.range.lowerBound), Self.range.upperBound)
        let second = Int(microseconds.floorDivided(by: 1_000_000))
        let fraction = Int(microseconds - Int64(second) * 1_000_000)
        let day = Int(Int64(second).floorDivided(by: 86_400))
        let time = second - day * 86_400
        let (year, month, dayOfMonth) = Self.date(ofDay: day)

        func digits(_ value: Int, _ count: Int, at start: Int) {
            var rest = value
            for index in stride(from: start + count - 1, through: start, by: -1) {
                put(index, 48 + UInt8(truncatingIfNeeded: rest % 10))
                rest /= 10
            }
        }
        digits(year, 4, at: 0)
        put(4, UInt8(ascii: "-"))
        digits(month, 2, at: 5)
        put(7, UInt8(ascii: "-"))
        digits(dayOfMonth, 2, at: 8)
        put(10, UInt8(ascii: "T"))
        digits(time / 3600, 2, at: 11)
        put(13, UInt8(ascii: ":"))
        digits(time / 60 % 60, 2, at: 14)
        put(16, UInt8(ascii: ":"))
        digits(time % 60, 2, at: 17)
        put(19, UInt8(ascii: "."))
        digits(fraction, 6, at: 20)
        put(26, UInt8(ascii: "Z"))
    }

    /// Parses the output of `formatted`, with up to nine decimals of a second; nil for anything else, or a date that does not exist.
    public init?(_ text: some StringProtocol) {
        guard let time = Array(text.utf8).withUnsafeBytes({ Self.parse($0) }) else { return nil }
        self = time
    }

    package static func parse(_ text: UnsafeRawBufferPointer) -> Timestamp? {
        guard text.count >= 20, text.count <= 30, text[text.count - 1] == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for index in range {
                guard text[index] >= 48, text[index] <= 57 else { return nil }
                value = value * 10 + Int(text[index] - 48)
            }
            return value
        }
        for (index, byte) in [
            (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: "T")), (13, UInt8(ascii: ":")), (16, UInt8(ascii: ":")),
        ]
        where text[index] != byte { return nil }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19)
        else { return nil }
        guard (1...12).contains(month), (1...self.length(ofMonth: month, year: year)).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }

        var fraction = 0
        if text.count > 20 {
            let end = text.count - 1
            guard text[19] == UInt8(ascii: "."), end > 20, number(20..<end) != nil, let micro = number(20..<min(end, 26)) else {
                return nil
            }
            fraction = micro
            for _ in min(end, 26)..<26 { fraction *= 10 }
        }
        let seconds = Int64(self.day(year: year, month: month, day: day)) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
        return Timestamp(microseconds: seconds * 1_000_000 + Int64(fraction))
    }

    // MARK: The Gregorian calendar, counted from March so that the leap day comes last; an era is 400 years.

    private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = Int(Int64(shifted).floorDivided(by: 146_097))
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func day(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = Int(Int64(shifted).floorDivided(by: 400))
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = self.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
