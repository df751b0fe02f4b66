internal import CassetteFormat
package import CassetteModel

/// The facts about a body that a page shows above it, one per line.
package enum BodyWords {
    /// - Parameters:
    ///   - contents: nil if the body cannot be read.
    ///   - events: nil if the body has none.
    package static func lines(_ body: Body, headers: HeaderFields, contents: BodyContents?, events: BodyEvents? = nil) -> [String] {
        var lines = [self.first(body, headers)]
        if !body.codings.isEmpty { lines.append(self.codings(body)) }
        if let contents, let breaking = contents.breaking {
            lines.append(self.broken(breaking, of: body))
            lines.append("the first \(Quantity.count(contents.size, "byte")) of its content can be read")
        } else if let contents, let names = contents.inflated {
            let list = names.reversed().map(\.rawValue).joined(separator: ", then ")
            lines.append("\(list) removed for display, \(body.size) → \(contents.size) bytes; not decoded yet")
        } else if body.codings.isEmpty, body.size > 0, let coding = self.coding(headers) {
            lines.append("still coded as \(coding)")
        }
        switch body.content {
        case .grpc(let messages):
            lines.append(Quantity.count(messages.messages.count, "message"))
            if !messages.rest.isEmpty { lines.append("and \(Quantity.count(messages.rest.count, "byte")) of one that was cut") }
        case .file(let sidecar): lines.append("in \(sidecar.path)")
        case .raw(let slice): lines.append("in \(slice.path), \(slice.size) bytes at \(slice.offset)")
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .multipart, .binary: break
        }
        if let events { lines.append(Quantity.count(events.count, events.noun)) }
        if let size = contents?.size, contents?.inflated == nil, body.codings.isEmpty, size != body.size {
            lines.append("edited: holds \(Quantity.count(size, "byte"))")
        }
        if let original = body.original { lines.append("as received in \(original.path)") }
        if let arrival = body.arrival { lines.append(self.arrival(arrival)) }
        if let note = body.note { lines.append("note: \(note)") }
        return lines
    }

    package static func broken(_ breaking: BodyContents.Breaking, of body: Body) -> String {
        "\(breaking.name.rawValue) breaks at byte \(breaking.problem.offset) of \(body.size): \(breaking.problem.reason)"
    }

    private static func first(_ body: Body, _ headers: HeaderFields) -> String {
        guard body.size > 0 || body.content != .empty else { return body.isComplete ? "empty" : "empty, cut short" }
        var words = [Quantity.bytes(body.size)]
        if let type = ExchangeRow.type(headers) { words.append(type) }
        if !body.isComplete { words.append("cut short") }
        return words.joined(separator: ", ")
    }

    // MARK: Codings

    /// The codings declared by the header fields.
    package static func coding(_ headers: HeaderFields) -> String? {
        switch ContentEncoding(headers) {
        case .none: nil
        case .coded(let names): names.map(\.rawValue).joined(separator: ", ")
        case .other(let names): names
        }
    }

    /// `gzip level 6, 43 → 120 bytes`
    package static func codings(_ body: Body) -> String {
        let names = body.codings.map { self.name(of: $0) }.joined(separator: ", then ")
        let size: Int? =
            switch body.content {
            case .empty, .text, .encodedText, .json, .form, .lines, .events, .multipart, .grpc, .binary, .file: body.byteCount
            case .raw: nil
            }
        return names + (size.map { ", \(body.size) → \($0) bytes" } ?? "")
    }

    static func name(of coding: ContentCoding) -> String {
        switch coding {
        case .gzip(let parameters, _): "gzip" + self.words(parameters)
        case .gzipMembers(let members): "gzip of \(members.count) members" + self.words(members.first?.parameters)
        case .deflate(let parameters): "deflate" + self.words(parameters)
        case .rawDeflate(let parameters): "raw deflate" + self.words(parameters)
        case .brotli: "br"
        case .zstandard: "zstd"
        }
    }

    private static func words(_ parameters: DeflateParameters?) -> String {
        guard let parameters else { return "" }
        var text = " level \(parameters.level)"
        if parameters.memoryLevel != 8 { text += " memory \(parameters.memoryLevel)" }
        if parameters.windowBits != 15 { text += " window \(parameters.windowBits)" }
        if parameters.strategy != 0 { text += " strategy \(parameters.strategy)" }
        if !parameters.flushes.isEmpty { text += " flushed \(Quantity.count(parameters.flushes.count, "time"))" }
        return text
    }

    // MARK: Arrival

    /// `9 chunks of 5 to 1024 bytes in 12.4 ms`
    package static func arrival(_ arrival: Arrival) -> String {
        let sizes = arrival.pieces.map(\.size)
        var text = Quantity.count(sizes.count, arrival.isChunked ? "chunk" : "read")
        if let least = sizes.min(), let most = sizes.max() {
            text += " of " + (least == most ? Quantity.count(least, "byte") : "\(least) to \(most) bytes")
        }
        if let last = arrival.pieces.last { text += " in \(Quantity.milliseconds(last.at))" }
        let odd = arrival.pieces.filter { $0.line != nil }.count
        if odd > 0 { text += ", \(odd) with \(odd == 1 ? "a size line of its own" : "size lines of their own")" }
        if let last = arrival.lastLine { text += ", last-chunk line \"\(last)\"" }
        if arrival.isThinned { text += ", later edges merged" }
        return text
    }
}
