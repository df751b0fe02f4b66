internal import CassetteTools
internal import TapeBytes

/// What a check found: a line for each, or JSON.
struct FindingList {
    private let isJSON: Bool
    private let allowsEdited: Bool
    private let write: (String) throws -> Void
    private let note: (String) -> Void
    private(set) var problems = 0
    private var isEmpty = true
    private var writer = JSONWriter()

    /// - Parameters:
    ///   - allowsEdited: whether bodies that were edited are none of the problems.
    ///   - write: takes octets of the output.
    ///   - note: takes lines on what is no problem, unless all is JSON.
    init(
        isJSON: Bool, allowsEdited: Bool, write: @escaping (UnsafeRawBufferPointer) throws -> Void, note: @escaping (String) -> Void
    ) {
        self.isJSON = isJSON
        self.allowsEdited = allowsEdited
        self.note = note
        self.write = { text in
            var text = text
            try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
        }
    }

    mutating func append(_ finding: CareFinding) throws {
        let isProblem = finding.isProblem && !(self.allowsEdited && finding.kind == .changedBody)
        if isProblem { self.problems += 1 }
        if self.isJSON { return try self.appendJSON(finding, isProblem) }
        let line = VisibleText.line(Self.words(finding))
        if isProblem { try self.write(line + "\n") } else { self.note(line) }
    }

    mutating func finish(count: Int, of file: String) throws {
        if self.isJSON { return try self.write(self.isEmpty ? "[]\n" : "\n]\n") }
        guard self.problems == 0 else { return }
        try self.write("\"\(VisibleText.line(file))\": \(Quantity.count(count, "exchange")), no problem.\n")
    }

    private static func words(_ finding: CareFinding) -> String {
        var place: [String] = []
        if let exchange = finding.exchange { place.append("exchange \(exchange)") }
        if let message = finding.message { place.append("\(message) body") }
        if let file = finding.file { place.append("\"\(file)\"") }
        return place.isEmpty ? finding.text : "\(place.joined(separator: ", ")): \(finding.text)"
    }

    private mutating func appendJSON(_ finding: CareFinding, _ isProblem: Bool) throws {
        self.writer.removeAll()
        self.writer.beginObject(.inline)
        self.writer.member("kind")
        self.writer.string(finding.kind.rawValue)
        self.writer.member("problem")
        self.writer.bool(isProblem)
        if let exchange = finding.exchange {
            self.writer.member("exchange")
            self.writer.integer(exchange)
        }
        if let id = finding.id {
            self.writer.member("id")
            self.writer.integer(id)
        }
        if let message = finding.message {
            self.writer.member("message")
            self.writer.string(message)
        }
        if let file = finding.file {
            self.writer.member("file")
            self.writer.string(file)
        }
        self.writer.member("text")
        self.writer.string(finding.text)
        self.writer.endObject()
        try self.write((self.isEmpty ? "[\n  " : ",\n  ") + String(decoding: self.writer.bytes, as: UTF8.self))
        self.isEmpty = false
    }
}
