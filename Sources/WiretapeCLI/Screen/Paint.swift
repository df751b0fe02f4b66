/// Colours text for a terminal, or leaves it unchanged.
struct Paint: Sendable {
    /// SGR parameters of ECMA-48 that every terminal with colours has.
    enum Color: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case blue = "34"
        case magenta = "35"
        case cyan = "36"
    }

    var isOn: Bool

    func callAsFunction(_ text: String, _ color: Color?) -> String {
        guard self.isOn, let color, !text.isEmpty else { return text }
        return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
    }

    /// The colour of the status class (RFC 9110, 15); nil for an interim or unknown one.
    static func color(status: Int) -> Color? {
        switch status / 100 {
        case 2: .green
        case 3: .cyan
        case 4: .yellow
        case 5: .red
        default: nil
        }
    }
}

/// Colours JSON text: names, strings, numbers and words, each in its own colour.
///
/// Looks only at characters, so that an incomplete text is coloured as well. Changes nothing else.
struct JSONPaint {
    var paint: Paint

    func callAsFunction(_ text: String) -> String {
        guard self.paint.isOn else { return text }
        let bytes = Array(text.utf8)
        var painted: [UInt8] = []
        painted.reserveCapacity(bytes.count * 2)
        var offset = 0
        while offset < bytes.count {
            let start = offset
            let color: Paint.Color?
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                offset = Self.endOfString(bytes, from: offset)
                color = Self.isName(bytes, after: offset) ? .cyan : .green
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                offset = bytes[offset...].firstIndex { !Self.isOfNumber($0) } ?? bytes.count
                color = .yellow
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                offset = bytes[offset...].firstIndex { !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } ?? bytes.count
                color = .magenta
            default:
                offset = bytes[(offset + 1)...].firstIndex(where: Self.isStart) ?? bytes.count
                color = nil
            }
            painted.append(contentsOf: self.paint(String(decoding: bytes[start..<offset], as: UTF8.self), color).utf8)
        }
        return String(decoding: painted, as: UTF8.self)
    }

    private static func endOfString(_ bytes: [UInt8], from start: Int) -> Int {
        var offset = start + 1
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "\"") { return offset + 1 }
            offset += bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        return bytes.count
    }

    private static func isName(_ bytes: [UInt8], after end: Int) -> Bool {
        bytes[end...].first { $0 != 32 && $0 != 9 && $0 != 10 } == UInt8(ascii: ":")
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
            UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private static func isStart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
    }
}

/// Colours XML and HTML: tags, attribute values and comments.
///
/// Takes text in pieces. Knows no grammar: anything between `<` and `>` is a tag, scripts included.
struct MarkupPaint {
    private enum Place {
        case text, tag, comment
        case value(quote: UInt8)

        var color: Paint.Color? {
            switch self {
            case .text: nil
            case .tag: .cyan
            case .comment: .dim
            case .value: .green
            }
        }
    }

    private let paint: Paint
    private var place = Place.text
    /// The last bytes, in which the beginning or the end of a comment can start: one byte fewer than `<!--` has.
    private var last: [UInt8] = []

    init(_ paint: Paint) {
        self.paint = paint
    }

    /// A run of one colour ends with its line, so that text cut after any line leaves no colour on.
    mutating func push(_ piece: String) -> String {
        guard self.paint.isOn else { return piece }
        var painted = ""
        var run: [UInt8] = []
        func flush(_ color: Paint.Color?) {
            painted += self.paint(String(decoding: run, as: UTF8.self), color)
            run.removeAll(keepingCapacity: true)
        }
        for byte in piece.utf8 {
            if byte == 10 {
                flush(self.place.color)
                painted += "\n"
                self.remember(byte)
                continue
            }
            switch (self.place, byte) {
            case (.text, UInt8(ascii: "<")):
                flush(nil)
                self.place = .tag
                run.append(byte)
            case (.tag, UInt8(ascii: ">")):
                run.append(byte)
                flush(.cyan)
                self.place = .text
            case (.tag, UInt8(ascii: "\"")), (.tag, UInt8(ascii: "'")):
                flush(.cyan)
                self.place = .value(quote: byte)
                run.append(byte)
            case (.tag, UInt8(ascii: "-")) where self.last.suffix(3) == Array("<!-".utf8)[...]:
                self.place = .comment
                run.append(byte)
            case (.comment, UInt8(ascii: ">")) where self.last.suffix(2) == Array("--".utf8)[...]:
                run.append(byte)
                flush(.dim)
                self.place = .text
            case (.value(let quote), byte) where quote == byte:
                run.append(byte)
                flush(.green)
                self.place = .tag
            default: run.append(byte)
            }
            self.remember(byte)
        }
        flush(self.place.color)
        return painted
    }

    private mutating func remember(_ byte: UInt8) {
        self.last.append(byte)
        if self.last.count > 3 { self.last.removeFirst() }
    }
}
