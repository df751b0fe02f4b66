package import CassetteModel
package import CassettePlayback
package import CassetteStore
internal import TapeBytes

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
            return pattern.matches(FilterExpression.host(of: request.url))
                || request.headers.first("host").map { pattern.matches($0) } == true
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
}
