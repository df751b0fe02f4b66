/// Bytes as a hex dump: an offset, sixteen bytes in hex, and the ASCII characters among them.
package enum HexDump {
    package static let rowSize = 16

    /// - Parameter start: the offset of the first byte, for the first column.
    package static func rows(_ bytes: [UInt8], from start: Int = 0) -> [String] {
        stride(from: 0, to: bytes.count, by: self.rowSize).map { offset in
            let row = bytes[offset..<min(offset + self.rowSize, bytes.count)]
            var hex = ""
            for index in 0..<self.rowSize {
                if index == self.rowSize / 2 { hex += " " }
                hex += index < row.count ? self.digits(Int(row[offset + index]), 2) + " " : "   "
            }
            let text = row.map { $0 >= 0x20 && $0 < 0x7F ? String(Unicode.Scalar($0)) : "." }.joined()
            return "\(self.digits(start + offset, 8))  \(hex) \(text)"
        }
    }

    /// The columns of a byte's digits and of its character in a row.
    package static func columns(of index: Int) -> (digits: Int, character: Int) {
        (10 + index * 3 + (index >= self.rowSize / 2 ? 1 : 0), 10 + self.rowSize * 3 + 2 + index)
    }

    private static func digits(_ value: Int, _ count: Int) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
