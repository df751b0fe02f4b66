internal import CassetteRedaction

/// Texts with the numbers of their placeholders taken for equal: another recording counts the same secrets differently.
public enum PlaceholderNumbers {
    /// The octets with the number of each placeholder left out.
    public static func leftOut(_ octets: [UInt8]) -> [UInt8] {
        guard octets.contains(UInt8(ascii: "{")) || octets.contains(UInt8(ascii: "%")) else { return octets }
        return octets.withUnsafeBytes { text in
            var rest: [UInt8] = []
            rest.reserveCapacity(text.count)
            var index = 0
            while index < text.count {
                guard let found = Placeholder.spelled(in: text, at: index) else {
                    rest.append(text[index])
                    index += 1
                    continue
                }
                rest += "{{\(found.placeholder.kind):}}".utf8
                index += found.length
            }
            return rest
        }
    }

    public static func leftOut(_ text: String) -> String { String(decoding: self.leftOut(Array(text.utf8)), as: UTF8.self) }
}
