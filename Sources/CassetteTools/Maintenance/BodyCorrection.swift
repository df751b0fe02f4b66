internal import CassetteFormat
package import CassetteModel
package import CassetteStore
package import TapeBytes

/// Sizes, digests and lengths that no longer fit after bodies were edited, and the text with correct values.
///
/// Does not touch files: they are named by their digests, and editing an exchange does not change them.
package struct BodyCorrection {
    package struct Wrong {
        fileprivate enum Value {
            case size(Int)
            case sha256(String)
            case original
            case contentLength(Int)
        }

        package var side: MessageChoice
        /// What is wrong, for people.
        package var text: String
        fileprivate var right: Value
    }

    package private(set) var wrong: [Wrong] = []

    /// A body that cannot be read is not checked here; other checks report what is wrong with it.
    package init(_ interaction: Interaction, reader: BodyReader, digest: () -> any ContentDigest) {
        for side in MessageChoice.allCases {
            let (body, headers) = interaction.body(of: side)
            guard let body, let found = try? Self.wire(of: body, reader, digest) else { continue }
            func add(_ text: String, _ right: Wrong.Value) { self.wrong.append(Wrong(side: side, text: text, right: right)) }
            if found.size != body.size { add("it has \(found.size) bytes, but its \"size\" is \(body.size)", .size(found.size)) }
            if let recorded = body.sha256, recorded != found.sha256 {
                add("its \"sha256\" does not match its bytes", .sha256(found.sha256))
            }
            if found.isEdited, let original = body.original {
                add("its \"original\", \"\(original.path)\", still has the old bytes", .original)
            }
            guard let length = Self.length(headers), length != found.size, body.isComplete, Self.hasLength(interaction, side) else {
                continue
            }
            add("its Content-Length is \(length), but it has \(found.size) bytes", .contentLength(found.size))
        }
    }

    /// The bytes that a replay would send.
    private static func wire(of body: Body, _ reader: BodyReader, _ digest: () -> any ContentDigest) throws -> (
        size: Int, sha256: String, isEdited: Bool
    ) {
        func source(_ sidecar: Sidecar, _ digest: some ContentDigest) throws(CassetteError) -> ByteSource {
            try reader.source(sidecar, digest: digest)
        }
        var size = 0
        var hash = digest()
        let isEdited = try BodyRestorer.streamWire(
            of: body, file: { try source($0, digest()) }, raw: { ByteSource(try reader.read($0)) }
        ) { piece in
            size += piece.count
            hash.update(piece)
        }
        return (size, Hex.encode(hash.finalize()), isEdited)
    }

    /// nil if there is not exactly one.
    private static func length(_ headers: HeaderFields) -> Int? {
        let values = headers.values("content-length")
        return values.count == 1 ? Int(values[0]) : nil
    }

    /// Whether the field gives the length of this body. In an answer to HEAD and in a 304 it refers to another body (RFC 9110, 8.6), and a
    /// message with Transfer-Encoding has no such field (RFC 9112, 6.2).
    private static func hasLength(_ interaction: Interaction, _ side: MessageChoice) -> Bool {
        let (_, headers) = interaction.body(of: side)
        guard !headers.contains("transfer-encoding") else { return false }
        return side == .request || interaction.request.method != "HEAD" && interaction.response?.status != 304
    }

    // MARK: The text

    /// The text of the exchange with correct values. Everything else stays exactly as written.
    package func corrected(_ text: [UInt8]) throws -> [UInt8] {
        let root = try JSONDocument(text).root
        var changes: [(range: Range<Int>, bytes: [UInt8])] = []
        for wrong in self.wrong {
            let message = root[wrong.side.rawValue]
            let body = message?["body"]
            switch wrong.right {
            case .size(let size):
                if let value = body?["size"] { changes.append((value.range, Array("\(size)".utf8))) }
            case .sha256(let digest):
                if let value = body?["sha256"] { changes.append((value.range, Array("\"\(digest)\"".utf8))) }
            case .original:
                if let range = body.flatMap({ Self.range(of: "original", in: $0) }) { changes.append((range, [])) }
            case .contentLength(let length):
                for line in message?["headers"].map({ Array($0.elements) }) ?? [] {
                    guard let field = line.string, let colon = field.firstIndex(of: ":"), field[..<colon].lowercased() == "content-length"
                    else { continue }
                    changes.append((line.range, Array("\"\(field[..<colon]): \(length)\"".utf8)))
                }
            }
        }
        var corrected = text
        for change in changes.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            corrected.replaceSubrange(change.range, with: change.bytes)
        }
        return corrected
    }

    /// The range of a member including its comma.
    private static func range(of name: String, in object: JSONValue) -> Range<Int>? {
        let members = Array(object.members)
        guard let place = members.firstIndex(where: { $0.name.string == name }) else { return nil }
        let member = members[place].name.range.lowerBound..<members[place].value.range.upperBound
        if place > 0 { return members[place - 1].value.range.upperBound..<member.upperBound }
        return members.count > 1 ? member.lowerBound..<members[1].name.range.lowerBound : member
    }
}
