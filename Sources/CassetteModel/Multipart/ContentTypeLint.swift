internal import TapeBytes

/// Judges the Content-Type fields of a message or part that is a multipart.
///
/// Does not look at the body.
enum ContentTypeLint {
    /// - Parameter offset: of the part's header section; nil for the message's own fields.
    static func problems(_ fields: HeaderFields, offset: Int?) -> [MultipartProblem] {
        var problems: [MultipartProblem] = []
        let indices = (0..<fields.count).filter { fields.isNamed("content-type", at: $0) }
        let isJoined = indices.contains { MIMEParameters(fields.valueBytes(at: $0)).rest != nil }
        if indices.count > 1 || isJoined {
            problems.append(
                MultipartProblem(
                    .contentTypeTwice, offset: offset, "\"Content-Type\" is there twice, and servers differ in which they take; set it once"
                ))
        }
        guard let type = MultipartType(fields) else { return problems }
        guard let boundary = type.parameters["boundary"] else {
            return problems + [
                MultipartProblem(
                    .boundaryMissing, offset: offset, "\"Content-Type\" names no boundary; add \"boundary=\" and the text behind \"--\"")
            ]
        }
        return problems + self.problems(boundary, offset: offset)
    }

    private static func problems(_ boundary: MIMEParameters.Parameter, offset: Int?) -> [MultipartProblem] {
        let value = boundary.value
        guard !value.isEmpty else {
            return [MultipartProblem(.boundaryEmpty, offset: offset, "the boundary is empty; use 1 to 70 characters (RFC 2046, 5.1.1)")]
        }
        var problems: [MultipartProblem] = []
        let shown = PlainText.escape(value, limit: 80)
        if value.count > 70 {
            problems.append(
                MultipartProblem(
                    .boundaryTooLong, offset: offset, "the boundary has \(value.count) characters; use at most 70 (RFC 2046, 5.1.1)"))
        }
        if !value.allSatisfy(self.isAllowed) || value.last == 32 {
            problems.append(
                MultipartProblem(
                    .boundaryCharacters, offset: offset,
                    "the boundary \"\(shown)\" has characters that RFC 2046, 5.1.1 does not allow there; use letters, digits and hyphens"))
        } else if !boundary.isQuoted, !value.allSatisfy(self.needsNoQuotes) {
            problems.append(
                MultipartProblem(
                    .boundaryCharacters, offset: offset,
                    "the boundary \"\(shown)\" has characters that need quotes (RFC 2045, 5.1); use letters, digits and hyphens"))
        } else if boundary.isQuoted, value.allSatisfy(self.needsNoQuotes) {
            problems.append(
                MultipartProblem(
                    .boundaryQuoted, offset: offset,
                    "the boundary \"\(shown)\" stands in quotes, which is allowed, but some servers take them for a part of it; leave them out"
                ))
        }
        return problems
    }

    /// `bchars` of RFC 2046, 5.1.1.
    private static func isAllowed(_ octet: UInt8) -> Bool {
        self.isPlain(octet) || "'()+_,-./:=? ".utf8.contains(octet)
    }

    /// Those of them that are in `token` too (RFC 2045, 5.1).
    private static func needsNoQuotes(_ octet: UInt8) -> Bool {
        self.isPlain(octet) || "'+_-.".utf8.contains(octet)
    }

    private static func isPlain(_ octet: UInt8) -> Bool {
        octet >= 48 && octet <= 57 || (octet | 32) >= 97 && (octet | 32) <= 122
    }
}
