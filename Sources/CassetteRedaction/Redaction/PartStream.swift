internal import CassetteModel

/// Redacts a multipart body that comes in pieces, part by part. Parts within parts are text to it.
final class PartStream {
    /// What is done with the data of the part at hand.
    private enum Data {
        case text(TextStream)
        /// All of it is a secret, unless it grows too long for one.
        case secret(kind: String, isSure: Bool, [UInt8])
        case none
    }

    private let redaction: TextRedaction
    private var parser: MultipartParser
    private var headers: [UInt8] = []
    private var data = Data.none
    private var found = 0

    init(_ redaction: TextRedaction, boundary: MultipartBoundary) {
        self.redaction = redaction
        self.parser = MultipartParser(boundary: boundary)
    }

    var count: Int { self.found }

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
            self.headers.append(contentsOf: event.octets)
        case .data:
            try self.endHeaders(deliver)
            try self.takeData(event.octets, deliver)
        case .delimiter:
            try self.endHeaders(deliver)
            try self.endData(deliver)
            try deliver(event.octets)
        case .preamble, .epilogue, .opaque:
            if case .none = self.data {
                try self.endHeaders(deliver)
                self.data = .text(TextStream(self.redaction, kind: .plain))
            }
            try self.takeData(event.octets, deliver)
        }
    }

    private func endHeaders(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard !self.headers.isEmpty else { return }
        let fields = PartHeaderSection(octets: self.headers).fields
        let edits = self.headers.withUnsafeBytes { self.redaction.edits(in: $0, as: .fields) }
        self.found += edits.count
        try edits.applied(to: self.headers).withUnsafeBytes(deliver)
        self.headers = []
        switch PartMeaning(fields, rules: self.redaction.rules) {
        case .secret(let kind, let isSure) where !self.redaction.rules.keeps(kind: kind):
            self.data = .secret(kind: kind, isSure: isSure, [])
        case .secret, .kept, .content:
            let type = MediaType(fields.firstIndex(of: "content-type").map(fields.valueBytes))
            self.data = .text(TextStream(self.redaction, kind: type.kind == .binary ? .binary : .plain))
        }
    }

    private func takeData(_ octets: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self.data {
        case .none: try deliver(octets)
        case .text(let stream): try stream.push(octets, deliver: deliver)
        case .secret(let kind, let isSure, let held):
            self.data = .none
            let all = held + octets
            guard all.count > TextSurvey.valueLimit else {
                self.data = .secret(kind: kind, isSure: isSure, all)
                return
            }
            let stream = TextStream(self.redaction, kind: .plain)
            try all.withUnsafeBytes { try stream.push($0, deliver: deliver) }
            self.data = .text(stream)
        }
    }

    private func endData(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let data = self.data
        self.data = .none
        switch data {
        case .none: return
        case .text(let stream):
            try stream.finish(deliver: deliver)
            self.found += stream.count
        case .secret(let kind, let isSure, let octets):
            guard !octets.isEmpty else { return }
            guard !octets.withUnsafeBytes(Placeholder.isWhole) else { return try octets.withUnsafeBytes(deliver) }
            self.found += 1
            let placeholder = self.redaction.vault.placeholder(for: octets, kind: kind, isSure: isSure)
            try placeholder.octets.withUnsafeBytes(deliver)
        }
    }
}
