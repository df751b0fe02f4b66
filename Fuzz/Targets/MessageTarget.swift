internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes
internal import TapeExchange

/// The parsers of heads and bodies: what they read, or why they refuse, does not depend on how the bytes arrive.
///
/// An input is a byte for the side and the cuts, and the bytes of a connection's one direction.
package enum MessageTarget: FuzzTarget {
    private enum Head: Equatable {
        case request(Parsed<RequestHead>)
        case response(Parsed<ResponseHead>)
        case refused(MessageError.Code)
        case unfinished
    }

    private struct Read: Equatable {
        var data: [UInt8] = []
        var chunks: [BodyEvent] = []
        var consumed = 0
        var isDone = false
        var refusal: MessageError.Code?
    }

    package static func run(_ input: UnsafeRawBufferPointer) throws {
        guard let seed = input.first else { return }
        let bytes = UnsafeRawBufferPointer(rebasing: input[1...])
        let isRequest = seed & 128 == 0
        var parser = HeadParser()
        let whole = self.head(&parser, bytes, isRequest)
        try self.grow(bytes, isRequest, seed, whole)
        let framing: BodyFraming?
        let end: Int
        switch whole {
        case .request(let parsed): (framing, end) = (try? BodyFraming.ofRequest(parsed.head), parsed.consumed)
        case .response(let parsed): (framing, end) = (try? BodyFraming.ofResponse(parsed.head, requestMethod: "GET"), parsed.consumed)
        case .refused, .unfinished: return
        }
        try self.expect(end <= bytes.count, "a head longer than its bytes")
        guard let framing else { return }
        try self.body(UnsafeRawBufferPointer(rebasing: bytes[end...]), framing, isRequest ? .request : .response, seed)
    }

    private static func head(_ parser: inout HeadParser, _ bytes: UnsafeRawBufferPointer, _ isRequest: Bool) -> Head {
        do throws(MessageError) {
            if isRequest { return try parser.parseRequest(bytes).map { .request($0) } ?? .unfinished }
            return try parser.parseResponse(bytes).map { .response($0) } ?? .unfinished
        } catch {
            return .refused(error.code)
        }
    }

    /// The same head, read again whenever some bytes more are there.
    private static func grow(_ bytes: UnsafeRawBufferPointer, _ isRequest: Bool, _ seed: UInt8, _ whole: Head) throws {
        var parser = HeadParser()
        var count = 0
        var last = Head.unfinished
        for piece in Cuts(seed: seed).pieces(of: bytes) where last == .unfinished {
            count += piece.count
            last = Array(bytes[..<count]).withUnsafeBytes { self.head(&parser, $0, isRequest) }
        }
        try self.expect(last == whole, "the head depends on the cuts")
    }

    private static func body(_ bytes: UnsafeRawBufferPointer, _ framing: BodyFraming, _ side: MessageSide, _ seed: UInt8) throws {
        let whole = try self.read(framing, side, [Array(bytes)])
        let pieces = try self.read(framing, side, Cuts(seed: seed).pieces(of: bytes))
        try self.expect(whole.refusal == pieces.refusal, "whether a body is refused depends on the cuts")
        try self.expect(
            whole.data == pieces.data && whole.chunks == pieces.chunks && whole.isDone == pieces.isDone, "a body depends on the cuts")
        if whole.refusal == nil { try self.expect(whole.consumed == pieces.consumed, "where a body ends depends on the cuts") }
    }

    private static func read(_ framing: BodyFraming, _ side: MessageSide, _ pieces: [[UInt8]]) throws -> Read {
        var parser = BodyParser(framing: framing, side: side)
        var read = Read()
        for piece in pieces where read.refusal == nil && !parser.isDone {
            var consumed = 0
            do throws(MessageError) {
                consumed = try piece.withUnsafeBufferPointer { bytes throws(MessageError) in
                    try parser.consume(UnsafeRawBufferPointer(bytes)) { event in
                        if case .data(let range) = event { read.data += piece[range] } else { read.chunks.append(event) }
                    }
                }.consumed
            } catch {
                read.refusal = error.code
            }
            try self.expect(consumed <= piece.count, "more bytes taken than there are")
            read.consumed += consumed
        }
        read.isDone = parser.isDone
        return read
    }
}
