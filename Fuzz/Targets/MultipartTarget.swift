internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// The multipart parser: the stretches put together are the body, the parts written again are the body, and nothing depends on the cuts.
///
/// An input is a byte for the cuts, a boundary up to a line feed, and the body.
package enum MultipartTarget: FuzzTarget {
    /// What an event told, without pointers; neighbours of one kind are joined, since data comes as it was cut.
    private struct Told: Equatable {
        var kind: MultipartEvent.Kind
        var bytes: [UInt8]
    }

    package static func run(_ input: UnsafeRawBufferPointer) throws {
        guard let seed = input.first, let feed = input.dropFirst().firstIndex(of: 10), let boundary = MultipartBoundary(input[1..<feed])
        else { return }
        let body = UnsafeRawBufferPointer(rebasing: input[(feed + 1)...])
        // Small ones, so that their edges are reached.
        var limits = MultipartLimits()
        if seed & 4 != 0 {
            limits.parts = 3
            limits.headerSection = 64
            limits.headerLines = 3
            limits.allHeaderSections = 128
            limits.surroundings = 16
            limits.depth = 2
        }
        let whole = try self.events([Array(body)], boundary, limits)
        let cut = Cuts(seed: seed).pieces(of: body)
        let pieces = try self.events(cut, boundary, limits)
        try self.expect(whole == pieces, "the events depend on the cuts")
        try self.expect(whole.flatMap(\.bytes).elementsEqual(body), "the events are not the body")

        let parsed = MultipartBody.parse(body, boundary: boundary, limits: limits)
        var reader = MultipartReader(boundary: boundary, limits: limits)
        for piece in cut { piece.withUnsafeBytes { reader.push($0) } }
        try self.expect(reader.finish() == parsed, "the parts depend on the cuts")
        if let parsed {
            try self.expect(
                MultipartSerializer.bytes(parsed, source: body).map { $0.elementsEqual(body) } == true, "parts do not give the body")
        }
        try self.expect(
            try self.lint([Array(body)], boundary, limits) == self.lint(cut, boundary, limits), "the problems depend on the cuts")
    }

    private static func events(
        _ pieces: [[UInt8]], _ boundary: MultipartBoundary, _ limits: MultipartLimits
    ) throws -> [Told] {
        var parser = MultipartParser(boundary: boundary, limits: limits)
        var told: [Told] = []
        var offset = 0
        func take(_ event: MultipartEvent) throws {
            try self.expect(event.offset == offset, "events overlap or leave a gap")
            offset += event.bytes.count
            if told.last?.kind == event.kind, self.isJoinable(event.kind) {
                told[told.count - 1].bytes += event.bytes
            } else {
                told.append(Told(kind: event.kind, bytes: Array(event.bytes)))
            }
        }
        for piece in pieces { try piece.withUnsafeBytes { try parser.push($0, deliver: take) } }
        try parser.finish(deliver: take)
        return told
    }

    private static func isJoinable(_ kind: MultipartEvent.Kind) -> Bool {
        switch kind {
        case .preamble, .data, .epilogue, .opaque: true
        case .delimiter, .headers: false
        }
    }

    private static func lint(_ pieces: [[UInt8]], _ boundary: MultipartBoundary, _ limits: MultipartLimits) throws -> [MultipartProblem] {
        var headers = HeaderFields()
        headers.append(line: Array("Content-Type: multipart/form-data; boundary=".utf8) + boundary.bytes)
        var lint = MultipartLint(headers: headers, limits: limits)
        for piece in pieces { piece.withUnsafeBytes { lint.push($0) } }
        let problems = lint.finish()
        let size = pieces.reduce(0) { $0 + $1.count }
        try self.expect(problems.allSatisfy { ($0.offset ?? 0) <= size }, "a problem lies behind the body")
        return problems
    }
}
