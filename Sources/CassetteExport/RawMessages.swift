package import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Writes requests and responses as HTTP/1.1 sends them, one after another, with an empty line after each.
///
/// Bodies keep their codings, and chunks are as they were recorded. HTTP/2 messages are written in the form of HTTP/1.1. Those without
/// a length get one, and so do answers that end with their connection, unless only one side is written.
///
/// A body that was cut short has fewer bytes than its fields declare, so a reader would take the following message for its rest. Its
/// message has the field `Wiretape-Cut-After` with the number of bytes after the head, unless only one side is written.
package struct RawMessages: ExchangeWriter {
    /// Which part of each exchange is written.
    package enum Choice: String, Sendable, CaseIterable { case both, request, response }

    private let target: ExportTarget
    private let choice: Choice

    package init(_ target: ExportTarget, _ choice: Choice) {
        self.target = target
        self.choice = choice
    }

    package mutating func begin() throws {}

    package mutating func end() throws {}

    package mutating func append(_ interaction: Interaction, number: Int) throws {
        if self.choice != .response {
            try self.request(interaction)
            if self.choice == .both { try self.target.write("\r\n") }
        }
        guard self.choice != .request, interaction.response != nil else { return }
        try self.response(interaction)
        if self.choice == .both { try self.target.write("\r\n") }
    }

    /// Writes only the request.
    func request(_ interaction: Interaction) throws {
        let request = interaction.request
        try self.target.write("\(request.method) \(Self.target(of: request)) \(Self.version(request.version))\r\n")
        let isFramed = request.version.major < 2 || request.body == nil
        try self.fields(
            request.headers, addingHostOf: request.url, lengthOf: isFramed ? nil : request.body,
            cutAfter: try self.cutSize(request.body, request.headers))
        try self.body(request.body, request.headers, request.trailers) { try self.target.write($0) }
    }

    /// Writes only the response; nothing if there is none.
    func response(_ interaction: Interaction) throws {
        let request = interaction.request
        guard let response = interaction.response else { return }
        try self.target.write(
            Array("\(Self.version(response.version)) \(response.status)".utf8) + (response.omitsReasonSpace ? [] : [32]) + response.reason
                + [13, 10])
        let isBodiless = request.method == "HEAD" || response.status < 200 || response.status == 204 || response.status == 304
        // Where another message follows, the end of the connection is not the end of the body.
        let isFramed = self.choice != .both && response.version.major < 2 || isBodiless || response.body?.isComplete == false
        try self.fields(
            response.headers, addingHostOf: nil, lengthOf: isFramed ? nil : response.body ?? Body(size: 0, content: .empty),
            cutAfter: try self.cutSize(response.body, response.headers))
        try self.body(response.body, response.headers, response.trailers) { try self.target.write($0) }
    }

    /// The number of bytes of a body that was cut short, including its chunk lines; nil if it is complete, or if nothing follows it.
    private func cutSize(_ body: Body?, _ headers: HeaderFields) throws -> Int? {
        guard self.choice == .both, let body, !body.isComplete else { return nil }
        var size = 0
        try self.body(body, headers, nil) { size += $0.count }
        return size
    }

    private static func version(_ version: HTTPVersion) -> String { version.major >= 2 ? "HTTP/1.1" : version.description }

    private static func target(of request: RecordedRequest) -> String {
        if let target = request.target { return target }
        let rest = request.url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" && $0 != "?" }
        return rest.hasPrefix("/") ? String(rest) : "/\(rest)"
    }

    /// - Parameters:
    ///   - body: the body whose length is added if the fields declare none; nil to add nothing.
    ///   - cutSize: the number of bytes of a body that was cut short.
    private func fields(_ headers: HeaderFields, addingHostOf url: String?, lengthOf body: Body?, cutAfter cutSize: Int?) throws {
        // HTTP/2 has the host in the URL.
        if let url, !headers.contains("host") {
            try self.target.write("Host: \(url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" && $0 != "?" })\r\n")
        }
        try self.target.write(headers)
        if let body, !headers.contains("content-length"), !headers.contains("transfer-encoding") {
            try self.target.write("Content-Length: \(self.length(of: body))\r\n")
        }
        if let cutSize { try self.target.write("Wiretape-Cut-After: \(cutSize)\r\n") }
        try self.target.write([13, 10])
    }

    /// The number of bytes as sent: the size of a body that is kept decoded differs.
    private func length(of body: Body) throws -> Int {
        let stream = try self.target.reader.restoredStream(of: body) { PortableSHA256() }
        var length = 0
        while !stream.isEnded { length += try stream.next().count }
        return length
    }

    private func body(
        _ body: Body?, _ headers: HeaderFields, _ trailers: HeaderFields?, _ write: ([UInt8]) throws -> Void
    ) throws {
        let isChunked = headers.values("transfer-encoding").contains { $0.lowercased().hasSuffix("chunked") }
        guard let body else { return }
        let stream = try self.target.reader.restoredStream(of: body) { PortableSHA256() }
        guard isChunked else {
            while !stream.isEnded { try write(try stream.next()) }
            return
        }
        var chunks = (body.arrival?.isChunked == true ? body.arrival?.pieces ?? [] : [])[...]
        var held: [UInt8] = []
        while !stream.isEnded {
            held += try stream.next()
            while let chunk = chunks.first, held.count >= chunk.size {
                try write(Self.chunk(Array(held.prefix(chunk.size)), line: chunk.line))
                held.removeFirst(chunk.size)
                chunks = chunks.dropFirst()
            }
            // If the recorded chunks are unknown, each piece becomes a chunk.
            if chunks.isEmpty, !held.isEmpty {
                try write(Self.chunk(held, line: nil))
                held = []
            }
        }
        if !held.isEmpty { try write(Self.chunk(held, line: nil)) }
        guard body.isComplete else { return }
        try write(Array("\(body.arrival?.lastLine ?? "0")\r\n".utf8) + (trailers?.bytes ?? []) + [13, 10])
    }

    private static func chunk(_ bytes: [UInt8], line: String?) -> [UInt8] {
        bytes.isEmpty ? [] : Array("\(line ?? String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10]
    }
}
