internal import CassetteModel

/// Takes request lines and status lines apart (RFC 9112, 3 and 4).
///
/// Gets whole lines without their CRLF and without control bytes other than HTAB; leaves the fields empty.
enum StartLine {
    static func request(_ line: UnsafeRawBufferPointer) throws(MessageError) -> RequestHead {
        var methodEnd = 0
        while methodEnd < line.count, Octets.isToken(line[methodEnd]) { methodEnd += 1 }
        guard methodEnd > 0, methodEnd < line.count, line[methodEnd] == Octets.space else {
            throw self.refused(line, "must begin with a method and one space")
        }
        let targetStart = methodEnd + 1
        var targetEnd = targetStart
        while targetEnd < line.count, Octets.isVisible(line[targetEnd]) { targetEnd += 1 }
        guard targetEnd > targetStart else { throw self.refused(line, "needs a target behind one space") }
        guard targetEnd < line.count else { throw self.refused(line, "has no version; end it with \"HTTP/1.1\"") }
        guard line[targetEnd] == Octets.space else {
            throw self.refused(line, "has the byte \(Octets.escaped(line[targetEnd])) in its target; percent-encode it")
        }
        let version = try self.version(line, from: targetEnd + 1, side: .request)
        guard targetEnd + 9 == line.count else { throw self.refused(line, "must end behind its version") }
        return RequestHead(
            method: String(decoding: line[..<methodEnd], as: UTF8.self),
            target: String(decoding: line[targetStart..<targetEnd], as: UTF8.self),
            version: version, fields: HeaderFields())
    }

    static func response(_ line: UnsafeRawBufferPointer) throws(MessageError) -> ResponseHead {
        let version = try self.version(line, from: 0, side: .response)
        guard line.count >= 12, line[8] == Octets.space, line[9..<12].allSatisfy(Octets.isDigit) else {
            throw self.refusedStatus(line, "needs one space and three digits behind its version")
        }
        let status = Int(line[9] - 48) * 100 + Int(line[10] - 48) * 10 + Int(line[11] - 48)
        // RFC 9110, 15: codes from 600 are invalid but in use, and a client treats them as 5xx; below 100 has no meaning at all.
        guard status >= 100 else { throw self.refusedStatus(line, "has a status below 100") }
        guard line.count == 12 || line[12] == Octets.space else {
            throw self.refusedStatus(line, "needs a space between status and reason")
        }
        return ResponseHead(
            version: version, status: status, reason: Array(line.dropFirst(13)), omitsReasonSpace: line.count == 12,
            fields: HeaderFields())
    }

    /// The eight bytes of `HTTP/1.x`.
    private static func version(_ line: UnsafeRawBufferPointer, from start: Int, side: MessageSide) throws(MessageError) -> HTTPVersion {
        guard line.count >= start + 8, line[start + 6] == UInt8(ascii: "."), Octets.isDigit(line[start + 5]),
            Octets.isDigit(line[start + 7]), line[start..<start + 5].elementsEqual("HTTP/".utf8)
        else {
            let next = "must have a version like \"HTTP/1.1\""
            throw side == .request ? self.refused(line, next) : self.refusedStatus(line, next)
        }
        let version = HTTPVersion(major: Int(line[start + 5] - 48), minor: Int(line[start + 7] - 48))
        guard version.major == 1 else {
            throw side.fault(.version, status: 505, "\(side.startLineName) \(Octets.quoted(line)) is not HTTP/1; send HTTP/1.1")
        }
        return version
    }

    private static func refused(_ line: UnsafeRawBufferPointer, _ reason: String) -> MessageError {
        MessageSide.request.fault(.startLine, "request line \(Octets.quoted(line)) \(reason)")
    }

    private static func refusedStatus(_ line: UnsafeRawBufferPointer, _ reason: String) -> MessageError {
        MessageSide.response.fault(.startLine, "status line \(Octets.quoted(line)) \(reason)")
    }
}
