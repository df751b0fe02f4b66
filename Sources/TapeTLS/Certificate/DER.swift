/// Writes the few forms of DER that extensions are made of. It reads nothing.
enum DER {
    static let sequence: UInt8 = 0x30

    /// Tag, length and content (X.690, 8.1 and 10.1).
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var element = [tag]
        element.reserveCapacity(content.count + 6)
        if content.count < 0x80 {
            element.append(UInt8(content.count))
        } else {
            let octets = withUnsafeBytes(of: UInt64(content.count).bigEndian) { Array($0.drop { $0 == 0 }) }
            element.append(0x80 | UInt8(octets.count))
            element += octets
        }
        element += content
        return element
    }

    /// Bit 0 is the first of the string; bits that are not set at the end are left out (X.690, 11.2.2).
    static func bits(_ numbers: [Int]) -> [UInt8] {
        guard let last = numbers.max() else { return [0x03, 0x01, 0x00] }
        var octets = [UInt8](repeating: 0, count: last / 8 + 1)
        for number in numbers { octets[number / 8] |= 0x80 >> UInt8(number % 8) }
        return self.element(0x03, [UInt8(7 - last % 8)] + octets)
    }
}
