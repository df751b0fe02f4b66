package import TapeBytes
internal import CassetteModel

/// A date as HTTP has it in one of its three spellings (RFC 9110, 5.6.7), or with the dashes and short years that cookies have.
///
/// Takes what is written, and spells another moment alike. The day of the week need not be right.
package struct WrittenDate {
    private enum Spelling {
        /// `Sun, 06 Nov 1994 08:49:37 GMT`, with spaces or dashes in the date.
        case fixed(separator: Character)
        /// `Sunday, 06-Nov-94 08:49:37 GMT`, or with a short day.
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
                // RFC 6265, 5.1.1
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

    /// Another moment of the years 0 to 9999; the second it is in.
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
