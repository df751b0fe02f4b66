/// Colours JSON text: names, strings, numbers and words, each in its own colour.
///
/// Goes by the characters alone, so that the beginning of a text is coloured as well. Changes nothing else.
struct JSONPaint {
    var paint: Paint

    func callAsFunction(_ text: String) -> String {
        guard self.paint.isOn else { return text }
        let octets = Array(text.utf8)
        var painted: [UInt8] = []
        painted.reserveCapacity(octets.count * 2)
        var offset = 0
        while offset < octets.count {
            let start = offset
            let color: Paint.Color?
            switch octets[offset] {
            case UInt8(ascii: "\""):
                offset = Self.endOfString(octets, from: offset)
                color = Self.isName(octets, behind: offset) ? .cyan : .green
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                offset = octets[offset...].firstIndex { !Self.isOfNumber($0) } ?? octets.count
                color = .yellow
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                offset = octets[offset...].firstIndex { !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } ?? octets.count
                color = .magenta
            default:
                offset = octets[(offset + 1)...].firstIndex(where: Self.isStart) ?? octets.count
                color = nil
            }
            painted.append(contentsOf: self.paint(String(decoding: octets[start..<offset], as: UTF8.self), color).utf8)
        }
        return String(decoding: painted, as: UTF8.self)
    }

    private static func endOfString(_ octets: [UInt8], from start: Int) -> Int {
        var offset = start + 1
        while offset < octets.count {
            if octets[offset] == UInt8(ascii: "\"") { return offset + 1 }
            offset += octets[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        return octets.count
    }

    private static func isName(_ octets: [UInt8], behind end: Int) -> Bool {
        octets[end...].first { $0 != 32 && $0 != 9 && $0 != 10 } == UInt8(ascii: ":")
    }

    private static func isOfNumber(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
            UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private static func isStart(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "\""), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
    }
}
