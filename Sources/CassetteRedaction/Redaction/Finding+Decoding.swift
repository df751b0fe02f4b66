internal import TapeBytes

extension Finding.Spelling {
    /// The octets that a value stands for; nil where it is not of this spelling.
    package func decode(_ value: UnsafeRawBufferPointer) -> [UInt8]? {
        switch self {
        case .plain, .number: Array(value)
        case .json: value.contains(UInt8(ascii: "\\")) ? JSONStringDecoder.decode(Array(value)[...]) ?? Array(value) : Array(value)
        case .query, .user: Self.unescaped(value, plusIsSpace: false)
        case .form: Self.unescaped(value, plusIsSpace: true)
        }
    }

    private static func unescaped(_ value: UnsafeRawBufferPointer, plusIsSpace: Bool) -> [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(value.count)
        var index = 0
        while index < value.count {
            if value[index] == UInt8(ascii: "%"), value.count - index > 2, let high = Hex.value(value[index + 1]),
                let low = Hex.value(value[index + 2])
            {
                octets.append(high << 4 | low)
                index += 3
            } else {
                octets.append(plusIsSpace && value[index] == UInt8(ascii: "+") ? 32 : value[index])
                index += 1
            }
        }
        return octets
    }
}
