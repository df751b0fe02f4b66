package import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// Writes a test in Swift that makes the recorded requests with the client library, inside `withCassette`.
package struct SwiftTestText: ExchangeWriter {
    /// The most bytes of a body that is written into the source file.
    private static let inlineLimit = 4096

    private let target: ExportTarget
    private var count = 0

    package init(_ target: ExportTarget) { self.target = target }

    package mutating func begin() throws {
        try self.target.write(
            """
            import Foundation
            import Testing
            import Wiretape
            import WiretapeTesting

            #if canImport(FoundationNetworking)
            import FoundationNetworking
            #endif

            @Test func \(Self.identifier(self.target.name))() async throws {
                try await withCassette(\(Self.literal(self.target.name))) {
                    let session = HTTPSession(configuration: .init())

            """)
    }

    package mutating func end() throws { try self.target.write("    }\n}\n") }

    package mutating func append(_ interaction: Interaction, number: Int) throws {
        let request = interaction.request
        guard request.method != "CONNECT", interaction.webSocket == nil else {
            return try self.target.write("        // exchange \(number) is not a plain request: it is left out\n")
        }
        let content = try self.target.content(request.body, request.headers, number: number)
        let name = number
        var text = self.count > 0 ? "\n" : ""
        self.count += 1
        let isVariable = request.method != "GET" || !content.isEmpty || !Self.sent(request.headers).isEmpty
        text += "        \(isVariable ? "var" : "let") request\(name) = URLRequest(url: URL(string: \(Self.literal(request.url)))!)\n"
        if request.method != "GET" { text += "        request\(name).httpMethod = \(Self.literal(request.method))\n" }
        for field in Self.sent(request.headers) {
            text += "        request\(name).addValue(\(Self.literal(field.value)), forHTTPHeaderField: \(Self.literal(field.name)))\n"
        }
        if !content.isEmpty {
            if content.count <= Self.inlineLimit, UTF8Validator.isValid(content) {
                text += "        request\(name).httpBody = Data(\(Self.literal(String(decoding: content, as: UTF8.self))).utf8)\n"
            } else if content.count <= Self.inlineLimit {
                var base64: [UInt8] = []
                content.withUnsafeBytes { Base64.encode($0, into: &base64) }
                text += "        request\(name).httpBody = Data(base64Encoded: \(Self.literal(String(decoding: base64, as: UTF8.self))))\n"
            } else {
                text +=
                    "        // its body has \(content.count) bytes: wiretape inspect \(VisibleText.line(self.target.path)) \(number) --body request\n"
            }
        }
        text +=
            "        let response\(name) = await session.request(request\(name)).redirect(using: .doNotFollow).serializingData().response\n"
        if let response = interaction.response {
            text += "        #expect(response\(name).response?.status == \(response.status))\n"
        } else {
            text += "        #expect(response\(name).response == nil)\n"
        }
        try self.target.write(text)
    }

    /// The fields that the client does not set itself.
    private static func sent(_ headers: HeaderFields) -> [(name: String, value: String)] {
        (0..<headers.count).compactMap { index in
            let name = headers.name(at: index)
            let own = ["host", "user-agent", "accept-encoding", "accept-language"]
            guard !FramingFields.contains(name, isDecoded: true), !own.contains(name.lowercased()) else { return nil }
            if name.lowercased() == "accept", headers.value(at: index) == "*/*" { return nil }
            return (name, headers.value(at: index))
        }
    }

    /// Converts `list-pets` to `listPets`.
    static func identifier(_ name: String) -> String {
        var words = name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map(String.init)
        guard let first = words.first else { return "replaysCassette" }
        words[0] = first.prefix(1).lowercased() + first.dropFirst()
        for index in words.indices.dropFirst() { words[index] = words[index].prefix(1).uppercased() + words[index].dropFirst() }
        let joined = words.joined()
        return joined.first?.isNumber == true ? "cassette\(joined)" : "replays\(joined.prefix(1).uppercased())\(joined.dropFirst())"
    }

    /// A Swift string literal.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            default:
                if scalar.value < 32 || scalar.value == 127 || VisibleText.isHidden(scalar) {
                    literal += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    literal.unicodeScalars.append(scalar)
                }
            }
        }
        return literal + "\""
    }
}
