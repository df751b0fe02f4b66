/// Colours XML and HTML lightly: tags, attribute values and comments.
///
/// Takes text in pieces. Knows no grammar: what stands between `<` and `>` is a tag, scripts included.
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
    /// The end of what came before, where a comment's ends can begin: as much as `<!--` but one.
    private var last: [UInt8] = []

    init(_ paint: Paint) {
        self.paint = paint
    }

    /// A run of one colour never goes over a line's end, so that an end after any line leaves no colour on.
    mutating func push(_ piece: String) -> String {
        guard self.paint.isOn else { return piece }
        var painted = ""
        var run: [UInt8] = []
        func flush(_ color: Paint.Color?) {
            painted += self.paint(String(decoding: run, as: UTF8.self), color)
            run.removeAll(keepingCapacity: true)
        }
        for octet in piece.utf8 {
            if octet == 10 {
                flush(self.place.color)
                painted += "\n"
                self.remember(octet)
                continue
            }
            switch (self.place, octet) {
            case (.text, UInt8(ascii: "<")):
                flush(nil)
                self.place = .tag
                run.append(octet)
            case (.tag, UInt8(ascii: ">")):
                run.append(octet)
                flush(.cyan)
                self.place = .text
            case (.tag, UInt8(ascii: "\"")), (.tag, UInt8(ascii: "'")):
                flush(.cyan)
                self.place = .value(quote: octet)
                run.append(octet)
            case (.tag, UInt8(ascii: "-")) where self.last.suffix(3) == Array("<!-".utf8)[...]:
                self.place = .comment
                run.append(octet)
            case (.comment, UInt8(ascii: ">")) where self.last.suffix(2) == Array("--".utf8)[...]:
                run.append(octet)
                flush(.dim)
                self.place = .text
            case (.value(let quote), octet) where quote == octet:
                run.append(octet)
                flush(.green)
                self.place = .tag
            default: run.append(octet)
            }
            self.remember(octet)
        }
        flush(self.place.color)
        return painted
    }

    private mutating func remember(_ octet: UInt8) {
        self.last.append(octet)
        if self.last.count > 3 { self.last.removeFirst() }
    }
}
