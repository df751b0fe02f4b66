package import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Requests and responses as HTTP/1.1 has them on the wire, one after another, with an empty line after each.
///
/// Bodies keep their codings; chunks are as they were recorded. Messages of HTTP/2 are written as HTTP/1.1 would have them, with a length if
/// they have none.
package struct RawMessages: ExchangeWriter {
    /// What of each exchange is written.
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

    /// The request alone.
    func request(_ interaction: Interaction) throws {
        let request = interaction.request
        try self.target.write("\(request.method) \(Self.target(of: request)) \(Self.version(request.version))\r\n")
        let isFramed = request.version.major < 2 || request.body == nil
        try self.fields(request.headers, addingHostOf: request.url, lengthOf: isFramed ? nil : request.body)
        try self.body(request.body, request.headers, request.trailers)
    }

    /// The answer alone; nothing if there is none.
    func response(_ interaction: Interaction) throws {
        let request = interaction.request
        guard let response = interaction.response else { return }
        try self.target.write(
            Array("\(Self.version(response.version)) \(response.status)".utf8) + (response.omitsReasonSpace ? [] : [32]) + response.reason
                + [13, 10])
        let isBodiless = request.method == "HEAD" || response.status < 200 || response.status == 204 || response.status == 304
        let isFramed = response.version.major < 2 || isBodiless || response.body?.isComplete == false
        try self.fields(response.headers, addingHostOf: nil, lengthOf: isFramed ? nil : response.body ?? Body(size: 0, content: .empty))
        try self.body(response.body, response.headers, response.trailers)
    }

    private static func version(_ version: HTTPVersion) -> String { version.major >= 2 ? "HTTP/1.1" : version.description }

    private static func target(of request: RecordedRequest) -> String {
        if let target = request.target { return target }
        let rest = request.url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" && $0 != "?" }
        return rest.hasPrefix("/") ? String(rest) : "/\(rest)"
    }

    /// - Parameter body: whose length is added if the fields say none; nil to add nothing.
    private func fields(_ headers: HeaderFields, addingHostOf url: String?, lengthOf body: Body?) throws {
        // HTTP/2 has it in the URL.
        if let url, !headers.contains("host") {
            try self.target.write("Host: \(url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" && $0 != "?" })\r\n")
        }
        try self.target.write(headers)
        if let body, !headers.contains("content-length"), !headers.contains("transfer-encoding") {
            try self.target.write("Content-Length: \(self.length(of: body))\r\n")
        }
        try self.target.write([13, 10])
    }

    /// Of the bytes of the wire: a body that is kept decoded has another size.
    private func length(of body: Body) throws -> Int {
        let stream = try self.target.reader.restoredStream(of: body) { PortableSHA256() }
        var length = 0
        while !stream.isEnded { length += try stream.next().count }
        return length
    }

    private func body(_ body: Body?, _ headers: HeaderFields, _ trailers: HeaderFields?) throws {
        let isChunked = headers.values("transfer-encoding").contains { $0.lowercased().hasSuffix("chunked") }
        guard let body else { return }
        let stream = try self.target.reader.restoredStream(of: body) { PortableSHA256() }
        guard isChunked else {
            while !stream.isEnded { try self.target.write(try stream.next()) }
            return
        }
        var chunks = (body.arrival?.isChunked == true ? body.arrival?.pieces ?? [] : [])[...]
        var held: [UInt8] = []
        while !stream.isEnded {
            held += try stream.next()
            while let chunk = chunks.first, held.count >= chunk.size {
                try self.chunk(Array(held.prefix(chunk.size)), line: chunk.line)
                held.removeFirst(chunk.size)
                chunks = chunks.dropFirst()
            }
            // Without chunks that are known, each piece is one.
            if chunks.isEmpty, !held.isEmpty {
                try self.chunk(held, line: nil)
                held = []
            }
        }
        if !held.isEmpty { try self.chunk(held, line: nil) }
        guard body.isComplete else { return }
        try self.target.write("\(body.arrival?.lastLine ?? "0")\r\n")
        try self.target.write((trailers?.bytes ?? []) + [13, 10])
    }

    private func chunk(_ bytes: [UInt8], line: String?) throws {
        guard !bytes.isEmpty else { return }
        try self.target.write(Array("\(line ?? String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10])
    }
}
