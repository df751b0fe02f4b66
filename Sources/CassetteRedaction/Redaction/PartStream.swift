internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Redacts a multipart body that arrives in pieces, part by part. Holds one part in memory; a part that is too long for that is searched as
/// text.
final class PartStream {
    /// How to treat the data of the current part.
    private enum Data {
        case none
        /// Collected, to be treated as a content of its kind.
        case held([UInt8], HeaderFields)
        case text(TextStream)
        /// The whole part is a secret, unless it grows too long for one.
        case secret(kind: String, isSure: Bool, isRuled: Bool, [UInt8])
        /// A rule makes the whole part a secret, which is longer than those that are searched for.
        case long(kind: String, PortableSHA256, count: Int)
    }

    /// The largest part that is held, in bytes.
    private static let heldLimit = 1 << 20

    private let redaction: TextRedaction
    private var parser: MultipartParser
    private var headers: [UInt8] = []
    private var data = Data.none
    private var number = 0
    private(set) var count = 0
    /// What could not be searched.
    private(set) var notes: [String] = []

    init(_ redaction: TextRedaction, boundary: MultipartBoundary) {
        self.redaction = redaction
        self.parser = MultipartParser(boundary: boundary)
    }

    func push(_ piece: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.parser.push(piece) { try self.take($0, deliver) }
    }

    func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.parser.finish { try self.take($0, deliver) }
        try self.endHeaders(deliver)
        try self.endData(deliver)
    }

    private func take(_ event: MultipartEvent, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch event.kind {
        case .headers:
            self.headers.append(contentsOf: event.bytes)
        case .data:
            try self.endHeaders(deliver)
            try self.takeData(event.bytes, deliver)
        case .delimiter:
            try self.endHeaders(deliver)
            try self.endData(deliver)
            try deliver(event.bytes)
        case .preamble, .epilogue, .opaque:
            if case .none = self.data {
                try self.endHeaders(deliver)
                self.data = .text(TextStream(self.redaction, kind: .plain))
            }
            try self.takeData(event.bytes, deliver)
        }
    }

    private func endHeaders(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard !self.headers.isEmpty else { return }
        let fields = PartHeaderSection(bytes: self.headers).fields
        let edits = self.headers.withUnsafeBytes { HeadRedaction(text: self.redaction).edits(ofPart: $0) }
        self.count += edits.count
        try edits.applied(to: self.headers).withUnsafeBytes(deliver)
        self.headers = []
        self.number += 1
        switch self.redaction.vault.renumbers
            ? .content([])
            : PartMeaning(
                fields, named: ContentRedaction.name(of: fields, self.number), rules: self.redaction.rules)
        {
        case .secret(let kind, let isSure, let isRuled) where !self.redaction.rules.keeps(kind: kind):
            self.data = .secret(kind: kind, isSure: isSure, isRuled: isRuled, [])
        case .secret, .kept, .content: self.data = .held([], fields)
        }
    }

    private func takeData(_ bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self.data {
        case .none: try deliver(bytes)
        case .text(let stream): try stream.push(bytes, deliver: deliver)
        case .held(var held, let fields):
            self.data = .none
            held.append(contentsOf: bytes)
            guard held.count > Self.heldLimit else {
                self.data = .held(held, fields)
                return
            }
            let type = MediaType(fields.firstIndex(of: "content-type").map(fields.valueBytes))
            let rules = self.redaction.rules
            if type.kind != .binary, rules.hasJSONPlaces || rules.hasXMLPlaces || rules.hasInnerPlaces {
                self.notes.append("rules for places in part \(self.number) are not applied: it has more than \(Self.heldLimit >> 20) MiB")
            }
            held.withUnsafeBytes { held in
                if let opaque = OpaqueContent(held, type, isBeginning: true) { self.redaction.vault.note(opaque) }
                if SniffedCoding.name(held) != nil {
                    self.redaction.vault.note(.sealed("a compressed part of more than \(Self.heldLimit >> 20) MiB"))
                }
            }
            try self.stream(held, type.kind == .binary ? .binary : .plain, deliver)
        case .secret(let kind, let isSure, let isRuled, var held):
            self.data = .none
            held.append(contentsOf: bytes)
            if held.count <= NamedValue.limit {
                self.data = .secret(kind: kind, isSure: isSure, isRuled: isRuled, held)
            } else if isRuled {
                var digest = PortableSHA256()
                held.withUnsafeBytes { digest.update($0) }
                self.data = .long(kind: kind, digest, count: held.count)
            } else {
                try self.stream(held, .plain, deliver)
            }
        case .long(let kind, var digest, let count):
            digest.update(bytes)
            self.data = .long(kind: kind, digest, count: count + bytes.count)
        }
    }

    private func stream(_ held: [UInt8], _ kind: TextKind, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let stream = TextStream(self.redaction, kind: kind)
        try held.withUnsafeBytes { try stream.push($0, deliver: deliver) }
        self.data = .text(stream)
    }

    private func endData(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let data = self.data
        self.data = .none
        switch data {
        case .none: return
        case .text(let stream):
            try stream.finish(deliver: deliver)
            self.count += stream.count
        case .held(let bytes, let fields):
            let edits = bytes.withUnsafeBytes {
                ContentRedaction(text: self.redaction).edits(ofPart: $0, fields, number: self.number)
            }
            self.count += edits.count
            try edits.applied(to: bytes).withUnsafeBytes(deliver)
        case .secret(let kind, let isSure, let isRuled, let bytes):
            guard !bytes.isEmpty else { return }
            guard !Placeholder.isAll(bytes) else { return try bytes.withUnsafeBytes(deliver) }
            let placeholder = self.redaction.vault.placeholder(
                for: bytes, kind: kind, isSure: isSure, isRuled: isRuled, under: self.redaction.rules)
            try self.deliver(placeholder, deliver)
        case .long(let kind, var digest, let count):
            try self.deliver(self.redaction.vault.placeholder(forLong: digest.finalize(), count: count, kind: kind), deliver)
        }
    }

    private func deliver(_ placeholder: Placeholder, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        self.count += 1
        try placeholder.bytes.withUnsafeBytes(deliver)
    }
}
