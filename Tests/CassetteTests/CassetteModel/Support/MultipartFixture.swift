import TapeTestSupport
import Testing

@testable import CassetteModel

/// Shared code of the multipart tests: a parse as text in any pieces, and bodies of every shape.
enum MultipartFixture {
    /// One event without its bytes; adjacent events of a kind that may arrive in several pieces are joined.
    struct Stretch: Equatable, CustomStringConvertible {
        var kind: MultipartEvent.Kind
        var offset: Int
        var bytes: [UInt8]

        var description: String {
            let text = String(decoding: self.bytes, as: UTF8.self)
            return switch self.kind {
            case .preamble: "preamble \(text.debugDescription)"
            case .delimiter(let delimiter): "\(delimiter.isClosing ? "closing" : "delimiter") \(text.debugDescription)"
            case .headers: "headers \(text.debugDescription)"
            case .data(let resembles): "\(resembles ? "resembling" : "data") \(text.debugDescription)"
            case .epilogue: "epilogue \(text.debugDescription)"
            case .opaque(let limit): "opaque \(limit) \(text.debugDescription)"
            }
        }
    }

    static func parse(_ pieces: [ArraySlice<UInt8>], boundary: String = "X", limits: MultipartLimits = MultipartLimits()) throws
        -> [Stretch]
    {
        var parser = MultipartParser(boundary: try #require(MultipartBoundary(boundary)), limits: limits)
        var stretches: [Stretch] = []
        func take(_ event: MultipartEvent) {
            let joins =
                switch event.kind {
                case .data(false), .preamble, .epilogue, .opaque: stretches.last?.kind == event.kind
                case .data(true), .delimiter, .headers: false
                }
            if joins {
                stretches[stretches.count - 1].bytes += event.bytes
            } else {
                stretches.append(Stretch(kind: event.kind, offset: event.offset, bytes: Array(event.bytes)))
            }
        }
        for piece in pieces { piece.withUnsafeBytes { parser.push($0, deliver: take) } }
        parser.finish(deliver: take)
        return stretches
    }

    /// The events of a text, one per line.
    static func transcript(_ text: String, boundary: String = "X", limits: MultipartLimits = MultipartLimits()) throws -> [String] {
        try self.parse([Array(text.utf8)[...]], boundary: boundary, limits: limits).map(\.description)
    }

    static func body(_ bytes: [UInt8], boundary: String = "X", limits: MultipartLimits = MultipartLimits()) throws -> MultipartBody<
        Range<Int>
    >? {
        let boundary = try #require(MultipartBoundary(boundary))
        return bytes.withUnsafeBytes { MultipartBody.parse($0, boundary: boundary, limits: limits) }
    }

    static func problems(_ text: String, type: String = "multipart/form-data; boundary=X") -> [MultipartProblem] {
        let headers = HeaderFields(["Content-Type: \(type)"])
        return Array(text.utf8).withUnsafeBytes { MultipartLint.problems(headers: headers, body: $0) }
    }

    static let form =
        "--X\r\nContent-Disposition: form-data; name=\"food\"\r\n\r\n음식\r\n"
        + "--X\r\nContent-Disposition: form-data; name=\"pet\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n\u{1}\r\n\u{2}\r\n--X--\r\n"

    /// Bodies that senders produce, valid and invalid.
    static let texts = [
        "", "x", "--X", "--X--", "--X--\r\n", "--X\r\n", "--X\r\n\r\n", "--X\r\n\r\n\r\n--X--", "--X\r\n\r\n--X--\r\n", "--X\n\na\n--X--\n",
        "\r\n--X\r\n\r\na\r\n--X--\r\n", "pre\r\n--X\r\n\r\na\r\n--X--\r\nepilogue", "--X \t\r\n\r\na\r\n--X-- \r\n",
        "--X\r\n\r\na\r\n--Xtra\r\nb\r\n--X--",
        "--X\r\n\r\nvalue--X--", "--X\r\n\r\nvalue--X--\r\n", "--X\r\n\r\na--X--\r\nb\r\n--X--\r\n",
        "--X\r\n\r\na--X\r\nContent-Type: b\r\n\r\nc\r\n--X--", "--XContent-Type: a\r\n\r\nb\r\n--X--",
        "--X\r\nA: b\r\n--X\r\nA: b\r\n--X--\r\n",
        "--X\r\nA: b\r\n\u{1}\u{2}\r\n--X--\r\n", "--X\r\n\r\na\r\r\n--X\r\n\r\n\r\n\r\n--X--\r\n--X\r\n\r\nlate",
        "--X\r\nno colon\r\n\r\na", "--X--\r", "--X\r",
        "--X\r\n\r\na\r\n--X-\r\n--X--x\r\n--X  x\r\n--X--\r\n",
        "--X\r\n\r\na\r\n--X" + String(repeating: " ", count: 79) + "\r\n\r\n--X--", "----X\r\n--X\r\n\r\n",
        "--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n--Y\r\n\r\na\r\n--Y--\r\n\r\n--X--\r\n",
        "--X\r\nContent-Type: multipart/mixed; boundary=Xy\r\n\r\npre\n--Xy\n\na\n--Xy\n\nb\n--Xy--\r\n--X--\r\n",
        "--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\nnothing\r\n--X--\r\n",
        Self.form,
    ]

    /// A text with a few of its significant bytes removed, inserted, doubled or changed.
    static func mutated(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let index = Int.random(in: 0...bytes.count, using: &generator)
            let token = ["\r", "\n", "\r\n", "-", "--", "X", "--X", "\r\n--X", "\r\n--X--", " ", ":", "\0", "\r\n\r\n", "Content-"]
                .randomElement(using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where index < bytes.count: bytes.remove(at: index)
            case 1 where index < bytes.count: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 2: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 0...5, using: &generator)))
            default: bytes.insert(contentsOf: (token ?? "").utf8, at: index)
            }
        }
        return bytes
    }
}
