package import CassetteModel
package import TapeBytes
package import CassetteStore
package import TapeBytes

/// Tells which exchanges match a filter expression.
///
/// Reads and decodes bodies only if the expression asks for them.
package struct ExchangeFilter {
    /// Bytes of a body that are searched; later bytes are not.
    package static let bodyLimit = 64 << 20

    private let expression: FilterExpression
    private let reader: BodyReader

    package init(_ expression: FilterExpression, reader: BodyReader) {
        self.expression = expression
        self.reader = reader
    }

    package func matches(_ interaction: Interaction) throws -> Bool { try self.holds(self.expression, for: interaction) }

    private func holds(_ expression: FilterExpression, for interaction: Interaction) throws -> Bool {
        switch expression {
        case .flag(let term): Self.holds(term, for: interaction)
        case .status(let status): interaction.response?.status == status
        case .grpc(let status): GRPCStatus(interaction.response) == status
        case .version(let version): interaction.request.version == version || interaction.response?.version == version
        case .pattern(let term, let pattern): try self.holds(term, pattern, for: interaction)
        case .not(let inner): try !self.holds(inner, for: interaction)
        case .and(let left, let right): try self.holds(left, for: interaction) && self.holds(right, for: interaction)
        case .or(let left, let right): try self.holds(left, for: interaction) || self.holds(right, for: interaction)
        }
    }

    private static func holds(_ term: FilterTerm, for interaction: Interaction) -> Bool {
        switch term {
        case .all, .http: return true
        case .answered: return interaction.response != nil
        case .unanswered: return interaction.response == nil
        case .failed:
            if case .complete = interaction.outcome { return false }
            return true
        case .webSocket: return interaction.opensWebSocket
        case .asset:
            guard let type = interaction.response.flatMap({ ExchangeRow.type($0.headers) }) else { return false }
            return ["image/", "font/", "application/font"].contains { type.hasPrefix($0) } || self.assetTypes.contains(type)
        case .body, .requestBody, .responseBody, .status, .grpc, .version, .domain, .destination, .header, .requestHeader,
            .responseHeader, .method, .type, .requestType, .responseType, .url:
            return false
        }
    }

    private static let assetTypes: Set<String> = ["text/javascript", "application/x-javascript", "application/javascript", "text/css"]

    private func holds(_ term: FilterTerm, _ pattern: FilterPattern, for interaction: Interaction) throws -> Bool {
        let request = interaction.request
        let response = interaction.response
        switch term {
        case .method: return pattern.matches(request.method)
        case .url: return pattern.matches(request.url)
        case .domain:
            return pattern.matches(Self.host(of: request.url)) || request.headers.first("host").map { pattern.matches($0) } == true
        case .destination: return interaction.connection.map { pattern.matches($0.remote) } == true
        case .requestHeader: return pattern.matches(request.headers)
        case .responseHeader: return response.map { pattern.matches($0.headers) } == true
        case .header: return pattern.matches(request.headers) || response.map { pattern.matches($0.headers) } == true
        case .requestType: return Self.typeMatches(request.headers, pattern)
        case .responseType: return response.map { Self.typeMatches($0.headers, pattern) } == true
        case .type: return Self.typeMatches(request.headers, pattern) || response.map { Self.typeMatches($0.headers, pattern) } == true
        case .requestBody:
            return try self.bodyMatches(request.body, request.headers, pattern)
                || self.messagesMatch(interaction.webSocket, of: [.client], pattern)
        case .responseBody:
            return try response.map { try self.bodyMatches($0.body, $0.headers, pattern) } == true
                || self.messagesMatch(interaction.webSocket, of: [.server], pattern)
        case .body:
            return try self.bodyMatches(request.body, request.headers, pattern)
                || response.map { try self.bodyMatches($0.body, $0.headers, pattern) } == true
                || self.messagesMatch(interaction.webSocket, of: [.client, .server], pattern)
        case .all, .asset, .answered, .failed, .grpc, .http, .status, .unanswered, .version, .webSocket: return false
        }
    }

    /// Each message by itself; pings, pongs and reasons of closes as well.
    private func messagesMatch(_ messages: WebSocketMessages?, of sides: Set<WebSocketSide>, _ pattern: FilterPattern) throws -> Bool {
        guard let messages else { return false }
        var isFound = false
        var left = Self.bodyLimit
        try self.reader.forEachSocketMessage(of: messages) { message in
            guard sides.contains(message.message.from) else { return true }
            let bytes = try message.contents().prefix(left)
            left -= bytes.count
            isFound = !bytes.isEmpty && pattern.matches(bytes)
            return !isFound && left > 0
        }
        return isFound
    }

    private static func typeMatches(_ headers: HeaderFields, _ pattern: FilterPattern) -> Bool {
        headers.values("content-type").contains { pattern.matches($0) }
    }

    private func bodyMatches(_ body: Body?, _ headers: HeaderFields, _ pattern: FilterPattern) throws -> Bool {
        guard let body, body.size > 0 || body.content != .empty else { return false }
        // Messages without their codings: the body has them with these.
        if let messages = BodyMessages(body, reader: self.reader) { return pattern.matches(try messages.prefix(Self.bodyLimit)) }
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        if pattern.matches(try contents.prefix(Self.bodyLimit)) { return true }
        guard try !BodyForm.isText(contents), let text = try DecodedText.read(contents, headers: headers) else { return false }
        return pattern.matches(try text.prefix(Self.bodyLimit))
    }

    /// Without user information, port and brackets.
    package static func host(of url: String) -> String {
        let bytes = Array(url.utf8)
        var start = 0
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: Array("://".utf8)) { start = colon + 3 }
        let end =
            bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
        var authority = bytes[start..<end]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        if authority.first == UInt8(ascii: "["), let close = authority.firstIndex(of: UInt8(ascii: "]")) {
            authority = authority[(authority.startIndex + 1)..<close]
        } else if let colon = authority.lastIndex(of: UInt8(ascii: ":")) {
            authority = authority[..<colon]
        }
        return String(decoding: authority, as: UTF8.self)
    }
}

/// A case-insensitive regular expression, searched for anywhere in bytes in linear time.
///
/// Bytes that are not UTF-8 match only `.`, so that the text between them can be found.
package struct FilterPattern {
    package enum Kind {
        /// Lines: `^` and `$` match at each (mitmproxy's re.MULTILINE for header fields).
        case lines
        /// `.` matches line ends too (re.DOTALL for bodies).
        case body
        case plain
    }

    package let source: String
    /// The pattern in lower-case ASCII, if it has no special character: most have none, and bodies can be large.
    private let literal: [UInt8]?
    private let pattern: Pattern
    private let isOfLines: Bool

    private static let special = Set(#"\^$.|?*+()[]{}"#.utf8)

    /// Throws if it is no pattern, with what to write instead.
    package init(_ source: String, _ kind: Kind = .plain) throws(PatternError) {
        let (flags, rest) = Self.flags(source)
        do {
            self.pattern = try Pattern("(?i\(kind == .body || flags.contains("s") ? "s" : ""))\(Self.inBothCases(rest))")
        } catch {
            // The error of what was written.
            _ = try Pattern(String(rest))
            throw error
        }
        self.source = source
        self.isOfLines = kind == .lines || flags.contains("m")
        let hasCase = source.unicodeScalars.contains { !$0.isASCII && ($0.properties.isLowercase || $0.properties.isUppercase) }
        let isLiteral = !source.isEmpty && !hasCase && !source.utf8.contains(where: Self.special.contains)
        self.literal = isLiteral ? source.utf8.map(Self.lower) : nil
    }

    /// The flags at the beginning, as Python's and other languages have them.
    private static func flags(_ source: String) -> (flags: Substring, rest: Substring) {
        guard source.hasPrefix("(?"), let end = source.firstIndex(of: ")") else { return ("", source[...]) }
        let flags = source[source.index(source.startIndex, offsetBy: 2)..<end]
        guard !flags.isEmpty, flags.allSatisfy({ "ism".contains($0) }) else { return ("", source[...]) }
        return (flags, source[source.index(after: end)...])
    }

    /// Letters beyond ASCII in both cases, since patterns ignore the case of ASCII alone.
    private static func inBothCases(_ pattern: Substring) -> String {
        guard pattern.unicodeScalars.contains(where: { !$0.isASCII }) else { return String(pattern) }
        var output = ""
        var (isEscaped, isInClass) = (false, false)
        for scalar in pattern.unicodeScalars {
            let lower = scalar.properties.lowercaseMapping, upper = scalar.properties.uppercaseMapping
            if !scalar.isASCII, !isEscaped, lower != upper, lower.unicodeScalars.count == 1, upper.unicodeScalars.count == 1 {
                output += isInClass ? lower + upper : "[\(lower)\(upper)]"
            } else {
                output.unicodeScalars.append(scalar)
            }
            if !isEscaped {
                if scalar == "[" { isInClass = true }
                if scalar == "]" { isInClass = false }
            }
            isEscaped = scalar == "\\" && !isEscaped
        }
        return output
    }

    package func matches(_ text: String) -> Bool { self.matches(Array(text.utf8)) }

    package func matches(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(self.matches) }

    package func matches(_ fields: HeaderFields) -> Bool { fields.withBytes(self.matches) }

    private func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if let literal = self.literal { return Self.find(literal, in: bytes) }
        if self.pattern.firstRange(in: bytes) != nil { return true }
        guard self.isOfLines else { return false }
        return bytes.split(separator: 0x0a).contains { line in
            var line = UnsafeRawBufferPointer(rebasing: line)
            if line.last == 0x0d { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
            return self.pattern.firstRange(in: line) != nil
        }
    }

    private static func find(_ literal: [UInt8], in bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= literal.count else { return false }
        let first = literal[0]
        for start in 0...bytes.count - literal.count where self.lower(bytes[start]) == first {
            var index = 1
            while index < literal.count, self.lower(bytes[start + index]) == literal[index] { index += 1 }
            if index == literal.count { return true }
        }
        return false
    }

    private static func lower(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 32 : byte }
}
