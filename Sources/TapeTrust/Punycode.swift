/// Writes Unicode in letters, digits and hyphens (RFC 3492).
enum Punycode {
    // RFC 3492, 5.
    private static let base: UInt32 = 36
    private static let tMin: UInt32 = 1
    private static let tMax: UInt32 = 26
    private static let skew: UInt32 = 38
    private static let damp: UInt32 = 700

    /// Without the `xn--` in front (RFC 3492, 6.3). A label has too few characters to overflow 32 bits.
    static func encode(_ scalars: [Unicode.Scalar]) -> String {
        let limit = 256
        let input = scalars.prefix(limit).map(\.value)
        var output = input.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basicCount = UInt32(output.count)
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var handled = basicCount
        var next: UInt32 = 0x80
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        while handled < UInt32(input.count), let least = input.filter({ $0 >= next }).min() {
            delta += (least - next) * (handled + 1)
            next = least
            for value in input {
                if value < next { delta += 1 }
                guard value == next else { continue }
                self.append(delta, bias, &output)
                bias = self.adapted(delta, handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func append(_ delta: UInt32, _ bias: UInt32, _ output: inout [UInt8]) {
        var rest = delta
        var position = self.base
        while true {
            let threshold = position <= bias ? self.tMin : min(position - bias, self.tMax)
            guard rest >= threshold else { break }
            output.append(self.digit(threshold + (rest - threshold) % (self.base - threshold)))
            rest = (rest - threshold) / (self.base - threshold)
            position += self.base
        }
        output.append(self.digit(rest))
    }

    private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / self.damp : delta / 2
        rest += rest / count
        var steps: UInt32 = 0
        while rest > (self.base - self.tMin) * self.tMax / 2 {
            rest /= self.base - self.tMin
            steps += self.base
        }
        return steps + (self.base - self.tMin + 1) * rest / (rest + self.skew)
    }

    private static func digit(_ value: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value < 26 ? 97 + value : 22 + value) }
}
