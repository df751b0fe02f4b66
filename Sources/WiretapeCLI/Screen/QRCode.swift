/// A text as a QR code (ISO/IEC 18004): bytes, error correction of level M, versions 1 to 9, which is up to 180 bytes.
struct QRCode {
    /// For versions 1 to 9: the number of codewords, of correction codewords in each block, and of blocks.
    private static let shapes = [
        (26, 10, 1), (44, 16, 1), (70, 26, 1), (100, 18, 2), (134, 24, 2), (172, 16, 4), (196, 18, 4), (242, 22, 4), (292, 22, 5),
    ]
    /// The centres of alignment patterns; each applies to both coordinates.
    private static let alignments = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46]]

    let size: Int
    private let version: Int
    private var dark: [Bool]
    /// Modules that are not data.
    private var isFixed: [Bool]

    /// Nil for a text that is too long.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let data = Self.shapes.map { $0.0 - $0.1 * $0.2 }
        // Four bits give the mode "bytes", eight the number of bytes.
        guard let index = data.firstIndex(where: { bytes.count + 2 <= $0 }) else { return nil }
        self.version = index + 1
        self.size = 17 + 4 * self.version
        self.dark = Array(repeating: false, count: self.size * self.size)
        self.isFixed = self.dark
        var best: QRCode?
        self.drawPatterns()
        self.draw(Self.codewords(bytes, Self.shapes[index]))
        // Choose the mask that is easiest to read.
        for code in (0..<8).map({ self.masked($0) }) where best.map({ code.penalty < $0.penalty }) ?? true { best = code }
        if let best { self.dark = best.dark }
    }

    func isDark(_ x: Int, _ y: Int) -> Bool {
        (0..<self.size).contains(x) && (0..<self.size).contains(y) && self.dark[y * self.size + x]
    }

    /// Each line has two rows of modules, dark on white, with the margin that readers need.
    var lines: [String] {
        stride(from: -4, to: self.size + 4, by: 2).map { y in
            let modules = (-4..<self.size + 4).map { x in
                switch (self.isDark(x, y), self.isDark(x, y + 1)) {
                case (true, true): "\u{2588}"
                case (true, false): "\u{2580}"
                case (false, true): "\u{2584}"
                case (false, false): " "
                }
            }
            return "\u{1B}[30;107m" + modules.joined() + "\u{1B}[0m"
        }
    }

    // MARK: Codewords

    private static func codewords(_ bytes: [UInt8], _ shape: (all: Int, correction: Int, blocks: Int)) -> [UInt8] {
        let room = shape.all - shape.correction * shape.blocks
        var data: [UInt8] = [0x40 | UInt8(bytes.count >> 4)]
        for (index, byte) in bytes.enumerated() {
            data.append((index == 0 ? UInt8(bytes.count & 15) : bytes[index - 1] & 15) << 4 | byte >> 4)
        }
        data.append((bytes.last ?? UInt8(bytes.count & 15)) << 4)
        for filler in 0..<room - data.count { data.append(filler % 2 == 0 ? 0xEC : 0x11) }
        var blocks: [ArraySlice<UInt8>] = []
        var start = 0
        for block in 0..<shape.blocks {
            let length = room / shape.blocks + (block >= shape.blocks - room % shape.blocks ? 1 : 0)
            blocks.append(data[start..<start + length])
            start += length
        }
        let divisor = self.divisor(shape.correction)
        let corrections = blocks.map { self.remainder($0, divisor) }
        var all: [UInt8] = []
        for index in 0...(room / shape.blocks) {
            for block in blocks where index < block.count { all.append(block[block.startIndex + index]) }
        }
        for index in 0..<shape.correction { for correction in corrections { all.append(correction[index]) } }
        return all
    }

    /// The product in the field of 256 elements modulo x⁸ + x⁴ + x³ + x² + 1.
    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var sum = 0
        for bit in (0..<8).reversed() {
            sum = sum << 1 ^ (sum >> 7) * 0x11D
            sum ^= Int(right >> UInt8(bit) & 1) * Int(left)
        }
        return UInt8(sum)
    }

    private static func divisor(_ degree: Int) -> [UInt8] {
        var result = Array(repeating: UInt8(0), count: degree)
        result[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = self.product(result[index], root) ^ (index + 1 < degree ? result[index + 1] : 0)
            }
            root = self.product(root, 2)
        }
        return result
    }

    private static func remainder(_ data: ArraySlice<UInt8>, _ divisor: [UInt8]) -> [UInt8] {
        var result = Array(repeating: UInt8(0), count: divisor.count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in divisor.indices { result[index] ^= self.product(divisor[index], factor) }
        }
        return result
    }

    // MARK: Modules

    private mutating func fix(_ x: Int, _ y: Int, _ isDark: Bool) {
        guard (0..<self.size).contains(x), (0..<self.size).contains(y) else { return }
        self.dark[y * self.size + x] = isDark
        self.isFixed[y * self.size + x] = true
    }

    private mutating func drawPatterns() {
        for index in 0..<self.size {
            self.fix(6, index, index % 2 == 0)
            self.fix(index, 6, index % 2 == 0)
        }
        for (x, y) in [(3, 3), (self.size - 4, 3), (3, self.size - 4)] {
            for dy in -4...4 {
                for dx in -4...4 {
                    let distance = max(abs(dx), abs(dy))
                    self.fix(x + dx, y + dy, distance != 2 && distance != 4)
                }
            }
        }
        let middles = Self.alignments[self.version - 1]
        for (row, y) in middles.enumerated() {
            for (column, x) in middles.enumerated() {
                // Three corners have finders.
                if row == 0 && column == 0 || row == 0 && column == middles.count - 1 || row == middles.count - 1 && column == 0 {
                    continue
                }
                for dy in -2...2 { for dx in -2...2 { self.fix(x + dx, y + dy, max(abs(dx), abs(dy)) != 1) } }
            }
        }
        self.drawFormat(0)
        guard self.version >= 7 else { return }
        let bits = self.version << 12 | Self.remainder(self.version << 12, by: 0x1F25, bits: 12)
        for index in 0..<18 {
            let isDark = bits >> index & 1 == 1
            self.fix(self.size - 11 + index % 3, index / 3, isDark)
            self.fix(index / 3, self.size - 11 + index % 3, isDark)
        }
    }

    /// The remainder of a polynomial over two elements.
    private static func remainder(_ value: Int, by divisor: Int, bits: Int) -> Int {
        var value = value
        for bit in stride(from: 19, through: bits, by: -1) where value >> bit & 1 == 1 { value ^= divisor << (bit - bits) }
        return value
    }

    /// Draws the level, which is 00 for M, and the mask, both twice.
    private mutating func drawFormat(_ mask: Int) {
        let bits = (mask << 10 | Self.remainder(mask << 10, by: 0x537, bits: 10)) ^ 0x5412
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            switch index {
            case 0...5: self.fix(8, index, isDark)
            case 6, 7: self.fix(8, index + 1, isDark)
            case 8: self.fix(7, 8, isDark)
            default: self.fix(14 - index, 8, isDark)
            }
            if index < 8 { self.fix(self.size - 1 - index, 8, isDark) } else { self.fix(8, self.size - 15 + index, isDark) }
        }
        self.fix(8, self.size - 8, true)
    }

    /// Draws in pairs of columns from the right, alternately up and down.
    private mutating func draw(_ codewords: [UInt8]) {
        var bit = 0
        var isUp = true
        for right in [Int](stride(from: self.size - 1, to: 6, by: -2)) + [5, 3, 1] {
            for step in 0..<self.size {
                let y = isUp ? self.size - 1 - step : step
                for x in [right, right - 1] where !self.isFixed[y * self.size + x] && bit < codewords.count * 8 {
                    self.dark[y * self.size + x] = codewords[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1
                    bit += 1
                }
            }
            isUp.toggle()
        }
    }

    private func masked(_ mask: Int) -> QRCode {
        var code = self
        for y in 0..<self.size {
            for x in 0..<self.size where !self.isFixed[y * self.size + x] {
                let flips =
                    switch mask {
                    case 0: (x + y) % 2 == 0
                    case 1: y % 2 == 0
                    case 2: x % 3 == 0
                    case 3: (x + y) % 3 == 0
                    case 4: (x / 3 + y / 2) % 2 == 0
                    case 5: x * y % 2 + x * y % 3 == 0
                    case 6: (x * y % 2 + x * y % 3) % 2 == 0
                    default: ((x + y) % 2 + x * y % 3) % 2 == 0
                    }
                if flips { code.dark[y * self.size + x].toggle() }
            }
        }
        code.drawFormat(mask)
        return code
    }

    /// How hard the code is to read: runs of one colour, squares of one colour, and an imbalance between the colours.
    private var penalty: Int {
        var penalty = 0
        for line in 0..<self.size {
            for isRow in [true, false] {
                var run = 0
                var last: Bool?
                for index in 0..<self.size {
                    let module = isRow ? self.isDark(index, line) : self.isDark(line, index)
                    run = module == last ? run + 1 : 1
                    last = module
                    if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
                }
            }
        }
        for y in 0..<self.size - 1 {
            for x in 0..<self.size - 1 {
                let module = self.isDark(x, y)
                if self.isDark(x + 1, y) == module, self.isDark(x, y + 1) == module, self.isDark(x + 1, y + 1) == module { penalty += 3 }
            }
        }
        let share = self.dark.count { $0 } * 100 / self.dark.count
        return penalty + abs(share - 50) / 5 * 10
    }
}
