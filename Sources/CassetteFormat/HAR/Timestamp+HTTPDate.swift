internal import TapeBytes
internal import CassetteModel

extension Timestamp {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Reads `Sat, 21 Nov 2026 04:19:28 GMT` (RFC 9110, 5.6.7), and the dashes that cookies have in place of its spaces.
    init?(httpDate text: String) {
        let words = text.lowercased().split { $0 == " " || $0 == "-" || $0 == "," }
        guard words.count == 6, words[5] == "gmt", let month = Self.months.firstIndex(where: { $0 == words[2] }) else { return nil }
        func padded(_ text: some StringProtocol, to width: Int) -> String {
            String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        guard words[3].utf8.count == 4, words[4].utf8.count == 8 else { return nil }
        self.init("\(words[3])-\(padded(String(month + 1), to: 2))-\(padded(words[1], to: 2))T\(words[4])Z")
    }
}
