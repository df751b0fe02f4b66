internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes
internal import TapeExchange

/// A body with one wrong bit, as faulty memory or a faulty disk makes it.
package struct CorruptBody: Sendable {
    let head: ResponseHead
    let framing: BodyFraming
    /// As sent, without the transfer coding.
    let bytes: [UInt8]
    /// False if the body is as it came, because it is empty or cannot be decoded and coded again.
    let isCorrupt: Bool

    /// Inverts one bit of the decoded body, and codes it again as it was.
    ///
    /// A length in the fields fits afterwards. Digests stay as they are, so that a client that checks them notices.
    ///
    /// - Parameters:
    ///   - wire: the body as sent, without its transfer coding.
    ///   - draw: chooses the bit.
    init(_ wire: [UInt8], _ head: ResponseHead, _ framing: BodyFraming, draw: UInt64) {
        guard let corrupt = Self.corrupted(wire, head.fields, draw) else {
            (self.head, self.framing, self.bytes, self.isCorrupt) = (head, framing, wire, false)
            return
        }
        var changed = head
        if changed.fields.contains("content-length") {
            changed.fields = changed.fields.replacing("content-length", with: "\(corrupt.count)")
        }
        let hasLength = if case .length = framing { true } else { false }
        (self.head, self.framing, self.bytes, self.isCorrupt) = (changed, hasLength ? .length(corrupt.count) : framing, corrupt, true)
    }

    private static func corrupted(_ wire: [UInt8], _ headers: HeaderFields, _ draw: UInt64) -> [UInt8]? {
        guard var body = try? CodedBody(wire, headers), !body.content.isEmpty else { return nil }
        let bit = Int(draw % UInt64(body.content.count * 8))
        body.content[bit / 8] ^= 1 << UInt8(bit % 8)
        return body.wire
    }
}
