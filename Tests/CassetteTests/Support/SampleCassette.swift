@testable import CassetteStore

/// Interactions and documents in the recorder's format, without an encoder.
enum SampleCassette {
    static let head = CassetteLayout.head(recorder: "wiretape 0.1.0", members: [])

    /// An element of the array with its indentation: its body has `size` bytes of text, full of characters that could mislead a scanner,
    /// and `padding` more bytes.
    static func interaction(_ id: Int, size: Int = 60, padding: Int = 0) -> [UInt8] {
        let pieces = ["{\\\"a\\\": [1, 2", "]}", "이름 ", "\\\\", "\\n    {\\n      \\\"id\\\"", "ü}", "]\\n}", "🐈", "plain text "]
        var text = ""
        var index = id
        while text.utf8.count < size {
            text += pieces[index % pieces.count]
            index += 1
        }
        text += String(repeating: "x", count: padding)
        return Array(
            """
                {
                  "id": \(id),
                  "request": {
                    "method": "GET",
                    "headers": [
                      "Host: 127.0.0.1:9000",
                      "X: \\"quoted\\" [ { "
                    ],
                    "body": { "size": 7, "json": {"a": [1, 2.5e-3, true, null], "id": {}} }
                  },
                  "text": "\(text)"
                }
            """.utf8)
    }

    /// The same element as it is read, from brace to brace.
    static func element(_ id: Int, size: Int = 60) -> [UInt8] { Array(self.interaction(id, size: size).dropFirst(4)) }

    static func document(_ ids: [Int]) -> [UInt8] {
        guard !ids.isEmpty else { return self.head + CassetteLayout.emptyClosing }
        let elements = ids.map { self.interaction($0) }.joined(separator: Array(",\n".utf8))
        return self.head + [0x0a] + Array(elements) + CassetteLayout.closing
    }
}
