package import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// A body with one wrong bit, as faulty memory or a faulty disk makes it.
package enum CorruptBody {
    /// Inverts one bit of the decoded body, and codes it again as it was.
    ///
    /// Lengths in the fields fit afterwards. Digests stay as they are, so that a client that checks them notices.
    ///
    /// - Parameters:
    ///   - wire: the body as sent, without its transfer coding.
    ///   - draw: chooses the bit.
    /// - Returns: nil if the body is empty or cannot be decoded and coded again.
    package static func corrupted(_ wire: [UInt8], headers: inout HeaderFields, draw: UInt64) -> [UInt8]? {
        guard var body = try? CodedBody(wire, headers), !body.content.isEmpty else { return nil }
        let bit = Int(draw % UInt64(body.content.count * 8))
        body.content[bit / 8] ^= 1 << UInt8(bit % 8)
        guard let corrupted = body.wire else { return nil }
        if headers.contains("content-length") { headers = headers.replacing("content-length", with: "\(corrupted.count)") }
        return corrupted
    }
}
