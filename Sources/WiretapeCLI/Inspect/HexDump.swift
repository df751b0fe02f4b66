/// Octets as people read them: an offset, sixteen octets in hex, and what of them is ASCII.
enum HexDump {
    static let rowSize = 16

    static func rows(_ octets: [UInt8]) -> [String] {
        stride(from: 0, to: octets.count, by: self.rowSize).map { start in
            let row = octets[start..<min(start + self.rowSize, octets.count)]
            var hex = ""
            for index in 0..<self.rowSize {
                if index == self.rowSize / 2 { hex += " " }
                hex += index < row.count ? self.digits(Int(row[start + index]), 2) + " " : "   "
            }
            let text = row.map { $0 >= 0x20 && $0 < 0x7F ? String(Unicode.Scalar($0)) : "." }.joined()
            return "\(self.digits(start, 8))  \(hex) \(text)"
        }
    }

    private static func digits(_ value: Int, _ count: Int) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
