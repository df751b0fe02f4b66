internal import CassetteModel
internal import TapeBytes

/// Finds the secrets in files with one record per line and no field names: cookies in the format of curl and Netscape, PostgreSQL's
/// `.pgpass`, and hashes of passwords as in `.htpasswd`.
struct RecordSurvey {
    private enum Format {
        /// Domain, subdomains, path, secure, expiry, name and value, separated by tabs (https://curl.se/docs/http-cookies.html).
        case cookies
        /// `host:port:database:user:password`, with colons in fields escaped by backslashes (PostgreSQL, "The Password File").
        case passwords
        /// `user:hash`, with the hash after its scheme or method, as in `.htpasswd` and `/etc/shadow` (RFC 2307, 5.3; crypt(5)).
        case hashes
    }

    private let format: Format

    /// The longest record, in bytes.
    private static let lineLimit = 8192

    /// The longest domain (RFC 1035, 2.3.4), with curl's mark before it, in bytes.
    private static let domainLimit = 272

    /// Nil if the first record of the text is in neither format.
    init?(_ text: UnsafeRawBufferPointer) {
        // JSON and markup begin differently.
        guard let first = text.first, !Self.mayNotStandInFields[Int(first)] || first == 10 || first == 13 else { return nil }
        var start = 0
        let head = UnsafeRawBufferPointer(rebasing: text[..<min(text.count, Self.lineLimit)])
        // The first line rules out most texts.
        while start < head.count {
            let line = Self.line(head, start)
            if !Self.isComment(head[line]), !line.isEmpty {
                if Self.cookie(head, line) != nil {
                    self.format = .cookies
                } else if Self.password(head, line) != nil {
                    self.format = .passwords
                } else if Self.hash(head, line) != nil {
                    self.format = .hashes
                } else {
                    return nil
                }
                return
            }
            start = ByteScan.index(of: 10, in: head, from: start) + 1
        }
        return nil
    }

    static func findings(in text: UnsafeRawBufferPointer) -> [Finding] {
        RecordSurvey(text)?.findings(in: text) ?? []
    }

    private func findings(in text: UnsafeRawBufferPointer) -> [Finding] {
        var findings: [Finding] = []
        var start = 0
        while start < text.count {
            let line = Self.line(text, start)
            start = ByteScan.index(of: 10, in: text, from: line.upperBound) + 1
            guard !line.isEmpty, line.count <= Self.lineLimit, !Self.isComment(text[line]) else { continue }
            switch self.format {
            case .cookies:
                guard let value = Self.cookie(text, line), !Placeholder.isAll(UnsafeRawBufferPointer(rebasing: text[value])) else {
                    continue
                }
                findings.append(Finding(kind: "cookie", range: value, secret: Array(text[value]), spelling: .plain, isSure: false))
            case .passwords:
                guard let value = Self.password(text, line), !Placeholder.isAll(UnsafeRawBufferPointer(rebasing: text[value])) else {
                    continue
                }
                findings.append(Finding(kind: "password", range: value, secret: Self.unescaped(text[value]), spelling: .plain))
            case .hashes:
                guard let value = Self.hash(text, line), !Placeholder.isAll(UnsafeRawBufferPointer(rebasing: text[value])) else { continue }
                findings.append(Finding(kind: "password", range: value, secret: Array(text[value]), spelling: .plain))
            }
        }
        return findings
    }

    private static func line(_ text: UnsafeRawBufferPointer, _ start: Int) -> Range<Int> {
        let end = ByteScan.index(of: 10, in: text, from: start)
        return start..<(end > start && text[end - 1] == 13 ? end - 1 : end)
    }

    /// curl marks cookies that are hidden from scripts by a prefix that looks like a comment.
    private static func isComment(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
        line.first == UInt8(ascii: "#") && !line.starts(with: "#HttpOnly_".utf8)
    }

    /// The value in a cookie's line.
    private static func cookie(_ text: UnsafeRawBufferPointer, _ line: Range<Int>) -> Range<Int>? {
        // Few lines of other texts have a tab after their first word.
        let domain = ByteScan.index(
            of: 9, in: UnsafeRawBufferPointer(rebasing: text[..<min(line.upperBound, line.lowerBound + Self.domainLimit)]),
            from: line.lowerBound)
        guard domain < line.upperBound, text[domain] == 9 else { return nil }
        let fields = text[line].split(separator: 9, maxSplits: 6, omittingEmptySubsequences: false)
        guard fields.count == 7, self.isFlag(fields[1]), self.isFlag(fields[3]), fields[4].allSatisfy({ $0 >= 48 && $0 <= 57 }),
            !fields[6].isEmpty
        else { return nil }
        return fields[6].startIndex..<fields[6].endIndex
    }

    /// Bytes that cannot occur in the fields before the password. They rule out most other texts by their first bytes.
    private static let mayNotStandInFields: [Bool] = (0...255).map { $0 <= 32 || "\"'|;{}[]()<>=,".utf8.contains(UInt8($0)) }

    private static func isFlag(_ field: Slice<UnsafeRawBufferPointer>) -> Bool {
        field.elementsEqual("TRUE".utf8) || field.elementsEqual("FALSE".utf8)
    }

    /// The password of an entry.
    private static func password(_ text: UnsafeRawBufferPointer, _ line: Range<Int>) -> Range<Int>? {
        guard !Self.mayNotStandInFields[Int(text[line.lowerBound])] else { return nil }
        var starts = [line.lowerBound]
        var offset = line.lowerBound
        while offset < line.upperBound, starts.count < 5 {
            let isEscaped = text[offset] == UInt8(ascii: "\\")
            if isEscaped { offset += 1 }
            guard offset < line.upperBound, !Self.mayNotStandInFields[Int(text[offset])] else { return nil }
            if !isEscaped, text[offset] == UInt8(ascii: ":") { starts.append(offset + 1) }
            offset += 1
        }
        guard starts.count == 5, starts[4] < line.upperBound else { return nil }
        let fields = (0..<4).map { text[starts[$0]..<starts[$0 + 1] - 1] }
        let isPort =
            fields[1].elementsEqual("*".utf8) || !fields[1].isEmpty && fields[1].count <= 5 && fields[1].allSatisfy { $0 >= 48 && $0 <= 57 }
        guard isPort, fields.allSatisfy({ !$0.isEmpty }),
            !text[starts[4]..<line.upperBound].contains(where: { $0 < 32 }),
            // Times and lists of bytes contain only digits.
            fields.contains(where: { $0.contains { ($0 | 32) > 102 && ($0 | 32) <= 122 || $0 == UInt8(ascii: "*") } })
        else { return nil }
        return starts[4]..<line.upperBound
    }

    private static let schemes: Set<String> = [
        "SHA", "SSHA", "SHA256", "SSHA256", "SHA512", "SSHA512", "MD5", "SMD5", "CRYPT", "PBKDF2", "ARGON2", "BCRYPT", "PLAIN", "CLEARTEXT",
        "SCRAM-SHA-256",
    ]
    private static let methods: Set<String> = [
        "1", "2", "2a", "2b", "2x", "2y", "5", "6", "7", "y", "gy", "apr1", "sha1", "md5", "argon2i", "argon2d", "argon2id", "scrypt",
    ]

    /// The hash of an entry, after its scheme `{SHA}` or method `$2y$`.
    private static func hash(_ text: UnsafeRawBufferPointer, _ line: Range<Int>) -> Range<Int>? {
        guard let colon = line.prefix(65).first(where: { text[$0] == UInt8(ascii: ":") }), colon > line.lowerBound,
            colon + 2 < line.upperBound,
            text[line.lowerBound..<colon].allSatisfy({ FormSpelling.isAlphanumeric($0) || "._-@+".utf8.contains($0) })
        else { return nil }
        let isScheme = text[colon + 1] == UInt8(ascii: "{")
        guard isScheme || text[colon + 1] == UInt8(ascii: "$") else { return nil }
        let close = isScheme ? UInt8(ascii: "}") : UInt8(ascii: "$")
        guard let end = (colon + 2..<line.upperBound).prefix(16).first(where: { text[$0] == close }) else { return nil }
        let name = String(decoding: text[colon + 2..<end], as: UTF8.self)
        guard isScheme ? Self.schemes.contains(name.uppercased()) : Self.methods.contains(name) else { return nil }
        let last = (end + 1..<line.upperBound).first { text[$0] == UInt8(ascii: ":") } ?? line.upperBound
        guard last - end > 8, !text[end + 1..<last].contains(where: { $0 <= 32 }) else { return nil }
        return end + 1..<last
    }

    private static func unescaped(_ field: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in field {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
                continue
            }
            isEscaped = false
            bytes.append(byte)
        }
        return bytes
    }
}
