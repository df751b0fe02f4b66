internal import CassetteFormat
public import CassetteModel

/// Removes the secrets from a body in memory: removes its codings, redacts the content, and applies the codings again.
struct BodyRedaction {
    let content: ContentRedaction
    /// Names of fields in gRPC messages.
    var schema = GRPCSchema()

    struct Result {
        var bytes: [UInt8]
        var count: Int
        /// The edits of the wire bytes; nil if the body was encoded again.
        var edits: EditList?
        /// Digests of changed scripts in a page, in base64.
        var digests: [(old: String, new: String)] = []
        /// The bytes without their content codings, before and after; nil if they have none, or are broken.
        var content: (old: [UInt8], new: [UInt8])?
    }

    /// Nil if there is nothing to redact. `notes` receives what could not be searched.
    func redacted(_ wire: [UInt8], headers: HeaderFields, isComplete: Bool, notes: inout [String]) -> Result? {
        guard !wire.isEmpty else { return nil }
        if let upload = ChunkedUpload(wire, headers, isComplete: isComplete) {
            return self.redacted(upload.payload, headers: upload.headers, isComplete: isComplete, notes: &notes).map { result in
                Result(
                    bytes: upload.bytes(of: result.bytes, result.edits, notes: &notes), count: result.count, digests: result.digests,
                    content: (upload.payload, result.bytes))
            }
        }
        switch ContentEncoding(headers) {
        case .none:
            if let name = SniffedCoding.name(wire) { return self.sniffed(wire, name, headers, isComplete: isComplete, notes: &notes) }
            if isComplete, self.isRawDeflate(wire, headers) {
                return self.coded(wire, [.deflate], headers, isComplete: true, notes: &notes)
            }
            if isComplete, self.isBrotli(wire, headers) {
                return self.coded(wire, [.br], headers, isComplete: true, notes: &notes)
            }
            return self.plain(wire, headers, isComplete: isComplete, notes: &notes)
        case .coded(let names): return self.coded(wire, names, headers, isComplete: isComplete, notes: &notes)
        case .other(let names):
            if let name = SniffedCoding.name(wire) { return self.coded(wire, [name], headers, isComplete: isComplete, notes: &notes) }
            notes.append("not searched for secrets behind the content coding \"\(names)\"")
            return self.undecoded(wire)
        }
    }

    /// A body that is compressed although no field declares it: an archive, or the response of a server that omitted the field.
    private func sniffed(
        _ wire: [UInt8], _ name: ContentEncoding.Name, _ headers: HeaderFields, isComplete: Bool, notes: inout [String]
    ) -> Result? {
        var own: [String] = []
        let result = self.coded(wire, [name], headers, isComplete: isComplete, notes: &own)
        // Two bytes of zlib may be something else after all; then nobody needs to see these notes.
        if result != nil || name != .deflate { notes += own }
        return result ?? self.plain(wire, headers, isComplete: isComplete, notes: &notes)
    }

    /// Whether a body of an unknown type is a text in deflate without a wrapper. Only a whole stream without anything after it is one, since
    /// no check proves it.
    private func isRawDeflate(_ wire: [UInt8], _ headers: HeaderFields) -> Bool {
        guard SniffedCoding.mayBeRawDeflate(wire),
            MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes)).kind == .unknown,
            !wire.withUnsafeBytes(ReadableText.isReadable)
        else { return false }
        return self.isText(wire, behind: .deflate)
    }

    /// Whether a body whose media type promises a text is a text in br, which no first byte shows. Only a whole stream without anything
    /// after it is one.
    private func isBrotli(_ wire: [UInt8], _ headers: HeaderFields) -> Bool {
        let type = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes))
        guard ContentEncoding.Name.br.isSupported, wire.withUnsafeBytes({ PromisedText.mayBeOther($0, type) }) else { return false }
        return self.isText(wire, behind: .br)
    }

    private func isText(_ wire: [UInt8], behind name: ContentEncoding.Name) -> Bool {
        guard let chain = DecoderChain([name], limits: InflateLimits()) else { return false }
        chain.meter = self.content.text.budget?.meter(coded: wire.count)
        var text = ReadableText()
        let isWhole = try? wire.withUnsafeBytes { try chain.push($0) { text.push($0) } } && chain.finish()
        return isWhole == true && chain.found.allSatisfy { $0.leftOver == 0 } && text.isReadable && chain.produced > wire.count / 2
    }

    private func plain(_ wire: [UInt8], _ headers: HeaderFields, isComplete: Bool, notes: inout [String]) -> Result? {
        let found = wire.withUnsafeBytes { self.edits(in: $0, headers, isComplete: isComplete, notes: &notes) }
        guard !found.edits.isEmpty else { return nil }
        return Result(bytes: found.edits.applied(to: wire), count: found.count, edits: found.edits, digests: found.digests)
    }

    /// The edits needed in a content.
    private struct Found {
        var edits = EditList()
        /// The number of placeholders.
        var count = 0
        var digests: [(old: String, new: String)] = []
    }

    private func edits(
        in content: UnsafeRawBufferPointer, _ headers: HeaderFields, isComplete: Bool, notes: inout [String]
    ) -> Found {
        if let messages = GRPCRedaction(self.content, headers: headers, schema: self.schema) {
            let result = messages.redacted(content, isComplete: isComplete, notes: &notes)
            return Found(edits: EditList(result.edits), count: result.count)
        }
        if isComplete, let text = GRPCWebText(content, headers) {
            let found = text.content.withUnsafeBytes { frames -> Found in
                let messages = UnsafeRawBufferPointer(rebasing: frames[..<text.messagesLength])
                let found = self.edits(in: messages, text.headers, isComplete: true, notes: &notes)
                // The length of the trailers stays.
                let rest = UnsafeRawBufferPointer(rebasing: frames[text.messagesLength...])
                let others = self.content.text.edits(in: rest, as: .binary).edits.map { edit in
                    let (start, end) = (edit.range.lowerBound + messages.count, edit.range.upperBound + messages.count)
                    return Edit(range: start..<end, bytes: edit.bytes)
                }
                return Found(edits: EditList(found.edits.edits + others), count: found.count + others.count)
            }
            guard !found.edits.isEmpty else { return found }
            let coded = text.text(of: found.edits.applied(to: text.content))
            return Found(edits: EditList([Edit(range: 0..<content.count, bytes: coded)]), count: found.count)
        }
        let edits = self.content.edits(in: content, headers: headers)
        let scripts = InlineScripts(content, headers, edits)
        let named = scripts.edits(in: content)
        return Found(
            edits: named.isEmpty ? edits : EditList(edits.edits + named), count: edits.count, digests: scripts.digests)
    }

    private func undecoded(_ wire: [UInt8]) -> Result? {
        let edits = wire.withUnsafeBytes { self.content.text.edits(in: $0, as: .binary) }
        return edits.isEmpty ? nil : Result(bytes: edits.applied(to: wire), count: edits.count, edits: edits)
    }

    /// A body without its codings.
    private struct Decoded {
        var content: [UInt8]
        /// From the outermost to the innermost.
        var layers: [DecodedLayer]
        var isWhole: Bool
        /// Why the content ends early, and in which coding.
        var problem: (name: ContentEncoding.Name, problem: InflateProblem)?
    }

    /// Nil if this build does not support the codings. Throws if the budget is spent.
    private func decoded(_ wire: [UInt8], _ names: [ContentEncoding.Name]) throws(SearchBudget.Spent) -> Decoded? {
        let meter = self.content.text.budget?.meter(coded: wire.count)
        if let stream = WholeStream(wire, names, limits: InflateLimits()) {
            try meter?(stream.content.count)
            return Decoded(content: stream.content, layers: [DecodedLayer(names[0], stream, codedSize: wire.count)], isWhole: true)
        }
        guard let chain = DecoderChain(names, limits: InflateLimits()) else { return nil }
        chain.meter = meter
        var content: [UInt8] = []
        do {
            let isWhole = try wire.withUnsafeBytes { try chain.push($0) { content.append(contentsOf: $0) } } && chain.finish()
            return Decoded(content: content, layers: chain.found, isWhole: isWhole, problem: chain.problem)
        } catch {
            // This is the only error that the decoder throws.
            throw SearchBudget.Spent()
        }
    }

    private func coded(
        _ wire: [UInt8], _ names: [ContentEncoding.Name], _ headers: HeaderFields, isComplete: Bool, notes: inout [String], depth: Int = 0
    ) -> Result? {
        let whole: Decoded?
        do {
            whole = try self.decoded(wire, names)
        } catch {
            // The notes of a spent search are not used.
            return nil
        }
        guard let decoded = whole else { return self.undecoded(wire) }
        if let problem = decoded.problem {
            // The field is wrong: the bytes have another coding, or none.
            if let name = SniffedCoding.name(wire), names != [name], names.last != name {
                return self.coded(wire, [name], headers, isComplete: isComplete, notes: &notes, depth: depth)
            }
            if wire.withUnsafeBytes(ReadableText.isReadable) { return self.plain(wire, headers, isComplete: isComplete, notes: &notes) }
            if decoded.content.isEmpty, names.count > 1 {
                let others = problem.name == names.last ? Array(names.dropLast()) : Array(names.dropFirst())
                return self.coded(wire, others, headers, isComplete: isComplete, notes: &notes, depth: depth)
            }
        }
        if let problem = decoded.problem, decoded.content.isEmpty {
            if let edits = self.edits(ofOtherText: wire, headers) {
                return Result(bytes: edits.applied(to: wire), count: edits.count, edits: edits)
            }
            if isComplete { notes.append("not searched for secrets: content coding \"\(problem.name.rawValue)\" is not what it claims") }
            return self.undecoded(wire)
        }
        if let kind = decoded.problem?.problem.kind, kind == .tooLong || kind == .tooDense {
            return self.streamed(wire, headers, isComplete: isComplete, notes: &notes)
        }
        let found = self.edits(ofDecoded: decoded.content, headers, isComplete: isComplete, notes: &notes, depth: depth)
        if found.edits.isEmpty {
            if isComplete, let problem = decoded.problem { notes.append("searched for secrets only up to where \(problem.problem)") }
            return nil
        }
        var bytes: [UInt8] = []
        let content = found.edits.applied(to: decoded.content)
        do {
            let encoder = try EncoderChain(decoded.layers.reversed().map { $0.coding(nil) })
            try content.withUnsafeBytes { try encoder.push($0) { bytes.append(contentsOf: $0) } }
            try encoder.finish { bytes.append(contentsOf: $0) }
        } catch {
            // zlib accepts level 6, so memory ran out. A body that contains secrets must not be kept for that reason.
            notes.append("left out: its content coding could not be put on again")
            return Result(bytes: [], count: found.count)
        }
        if !decoded.isWhole {
            // A broken stream stays broken: its end is left out.
            bytes.removeLast(min(bytes.count, Self.missing))
            if isComplete { notes.append("only what stands in front of a break in its content coding is kept, since secrets stood there") }
        }
        return Result(
            bytes: bytes, count: found.count, digests: found.digests, content: decoded.isWhole ? (decoded.content, content) : nil)
    }

    /// Searches a content that may have another coding.
    private func edits(
        ofDecoded content: [UInt8], _ headers: HeaderFields, isComplete: Bool, notes: inout [String], depth: Int
    ) -> Found {
        if let name = SniffedCoding.name(content) {
            guard depth < SniffedCoding.depthLimit else {
                notes.append("not searched for secrets: it is compressed more than \(SniffedCoding.depthLimit) times")
                return Found()
            }
            var own: [String] = []
            let inner = self.coded(content, [name], headers, isComplete: isComplete, notes: &own, depth: depth + 1)
            if inner != nil || name != .deflate { notes += own }
            if let inner {
                return Found(
                    edits: EditList([Edit(range: 0..<content.count, bytes: inner.bytes)]), count: inner.count, digests: inner.digests)
            }
        }
        return content.withUnsafeBytes { self.edits(in: $0, headers, isComplete: isComplete, notes: &notes) }
    }

    /// Binary bytes whose kind is known nevertheless.
    private func edits(ofOtherText wire: [UInt8], _ headers: HeaderFields) -> EditList? {
        let edits = wire.withUnsafeBytes { self.content.edits(in: $0, headers: headers) }
        return edits.isEmpty ? nil : edits
    }

    /// Handles a body that is too long for memory once decoded.
    private func streamed(_ wire: [UInt8], _ headers: HeaderFields, isComplete: Bool, notes: inout [String]) -> Result? {
        var bytes: [UInt8] = []
        do {
            let redaction = SourceRedaction(text: self.content.text, mayLoad: false)
            let outcome = try redaction.redact(ByteSource(wire), headers: headers, isComplete: isComplete) {
                bytes.append(contentsOf: $0)
            }
            notes += outcome.notes.filter { !notes.contains($0) }
            return outcome.isBodyChanged ? Result(bytes: bytes, count: outcome.count) : nil
        } catch {
            notes.append("left out: its content coding could not be put on again")
            return Result(bytes: [], count: 1)
        }
    }

    /// Fewer bytes than the trailer of any coding that has a trailer.
    private static let missing = 1
}

/// The bytes of a body as they came off the wire, and the data that has to change with them.
public struct WireBody: Sendable, Hashable {
    /// After transfer decoding, before content decoding.
    public var bytes: [UInt8]
    public var arrival: Arrival?
    public var isComplete: Bool

    public init(_ bytes: [UInt8], arrival: Arrival? = nil, isComplete: Bool = true) {
        self.bytes = bytes
        self.arrival = arrival
        self.isComplete = isComplete
    }
}
