internal import Foundation

/// The date of a cookie, however a server writes it (RFC 6265, 5.1.1).
enum CookieDate {
    /// Nil where day, month, year or time are missing or cannot be.
    static func date(_ text: String) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: self.isDelimiter) {
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, let found = self.number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = self.number(token, digits: 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        guard let time, let day, let month, let year, (1...31).contains(day), year >= 1601, time.hour < 24, time.minute < 60,
            time.second < 60
        else { return nil }
        var parts = DateComponents(year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
        parts.calendar = self.calendar
        parts.timeZone = .gmt
        return parts.isValidDate ? parts.date : nil
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func isDelimiter(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The digits at the start, when there are so many of them and no more.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let leading = token.prefix { (48...57).contains($0) }
        return digits.contains(leading.count) ? leading.reduce(0) { $0 * 10 + Int($1 - 48) } : nil
    }

    private static func time(_ token: Substring.UTF8View) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = self.number(parts[0], digits: 1...2), let minute = self.number(parts[1], digits: 1...2),
            let second = self.number(parts[2], digits: 1...2), parts[0].count < 3, parts[1].count < 3
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return self.months.firstIndex(of: name).map { $0 + 1 }
    }
}
